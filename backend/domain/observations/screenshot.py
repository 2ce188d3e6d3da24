"""`screenshot`: the picture of the screen."""

from backend.domain.model.trajectory import Observation
from backend.domain.observations._space import ExtraSpace
from backend.domain.ports.desktop import Desktop
from backend.domain.registry import PluginKind, register


@register(PluginKind.OBSERVATION, "screenshot")
class Screenshot(ExtraSpace):
    """The screen as JPEG, with the pointer."""

    about = "The screenshot and nothing else, unless options add more."
    shows_frame = True

    def look(self, desktop: Desktop, index: int) -> Observation:
        """One frame; about 10 ms at 1920x1080."""
        return Observation(index=index, frame=desktop.frame())
