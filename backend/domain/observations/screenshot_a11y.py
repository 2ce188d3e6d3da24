"""`screenshot_a11y`: the picture of the screen, the accessibility tree and the windows."""

from backend.domain.observations._space import Space
from backend.domain.ports import Desktop
from backend.domain.registry import Kind, register
from backend.domain.trajectory import Observation


@register(Kind.OBSERVATION, "screenshot_a11y")
class ScreenshotA11y(Space):
    """The screen as JPEG with the pointer, and the raw tree in OSWorld's XML."""

    about = "The picture of the screen, the accessibility tree as XML and the windows."
    shows_frame = True

    def observe(self, desktop: Desktop, index: int) -> Observation:
        """One frame, then the tree and the windows that belong to it."""
        frame = desktop.frame()
        return Observation(
            index=index, frame=frame, a11y_tree=desktop.accessibility_tree(), windows=tuple(desktop.windows())
        )
