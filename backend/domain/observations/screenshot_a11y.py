"""`screenshot_a11y`: the picture of the screen, the accessibility tree and the windows."""

from backend.domain.model.trajectory import Observation
from backend.domain.observations._space import ExtraSpace
from backend.domain.ports.desktop import Desktop
from backend.domain.registry import PluginKind, register
from backend.domain.screen.tree import look_with_tree


@register(PluginKind.OBSERVATION, "screenshot_a11y")
class ScreenshotA11y(ExtraSpace):
    """The screen as JPEG with the pointer, and the raw tree in OSWorld's XML."""

    about = "The screenshot, the accessibility tree as XML and the windows."
    shows_frame = True

    def look(self, desktop: Desktop, index: int) -> Observation:
        """One frame, then the tree and the windows that belong to it."""
        return look_with_tree(desktop, index)
