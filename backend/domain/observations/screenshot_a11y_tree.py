"""`screenshot_a11y_tree`: the picture of the screen, the accessibility tree and the windows."""

from backend.domain.model.trajectory import Observation
from backend.domain.observations._space import ExtraSpace
from backend.domain.ports.desktop import Desktop
from backend.domain.registry import PluginKind, register
from backend.domain.screen.tree import look_with_tree


@register(PluginKind.OBSERVATION, "screenshot_a11y_tree")
class ScreenshotA11yTree(ExtraSpace):
    """The screen as JPEG with the pointer, and the raw tree in OSWorld's XML."""

    about = "`screenshot_a11y` under the name that OSWorld's agents know it by."
    shows_frame = True

    def look(self, desktop: Desktop, index: int) -> Observation:
        """One frame, then the tree and the windows that belong to it."""
        return look_with_tree(desktop, index)
