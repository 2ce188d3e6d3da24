"""`a11y_tree`: the accessibility tree and the windows, without a picture."""

from backend.domain.model.trajectory import Observation
from backend.domain.observations._space import ExtraSpace
from backend.domain.ports.desktop import Desktop
from backend.domain.registry import PluginKind, register
from backend.domain.screen.tree import look_with_tree


@register(PluginKind.OBSERVATION, "a11y_tree")
class A11yTree(ExtraSpace):
    """The raw tree in OSWorld's XML. A screenshot is stored in the trajectory; the agent does not see it."""

    about = "The accessibility tree as XML and the windows, without a screenshot."
    shows_frame = False

    def look(self, desktop: Desktop, index: int) -> Observation:
        """One frame, then the tree and the windows that belong to it."""
        return look_with_tree(desktop, index)
