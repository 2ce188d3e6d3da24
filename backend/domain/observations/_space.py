"""Base of observation spaces: options, and parts of the desktop that any space can add."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from backend.domain.errors import ClusterLost, GuestLost, GuestRefused
from backend.domain.model.parameters import Parameters
from backend.domain.model.trajectory import Action, Frame, Observation
from backend.domain.ports.agent import PerceptionTools
from backend.domain.ports.desktop import Desktop

MOST_TERMINAL = 20_000
"""Maximum characters of a terminal's text, counted from the end."""
MOST_TABS, MOST_TITLE = 50, 300


class Space:
    """A space without options; one with options has its own `Params`."""

    Params: type[BaseModel] = Parameters

    def __init__(self, params: Any = None, eyes: PerceptionTools | None = None) -> None:
        """Args: params: as `Params`, None = its defaults; eyes: perception tools."""
        self.params: Any = self.Params() if params is None else params
        self.eyes = eyes

    def acted(self, actions: Sequence[Action]) -> None:
        """Does nothing: most spaces ignore executed actions. See the port."""

    def looking(self) -> PerceptionTools:
        """The perception tools.

        Raises:
            ClusterLost: there are none.
        """
        if self.eyes is None:
            raise ClusterLost(
                "this worker lets observation spaces look at the desktop only", code="perception_not_available"
            )
        return self.eyes


class Extras(Parameters):
    """Optional additions of any space."""

    windows: bool = Field(default=False, description="Titles and rectangles of the windows, and which one is in front.")
    tabs: bool = Field(default=False, description="Titles of the pages in the browser.")
    clipboard: bool = Field(default=False, description="The clipboard's text.")
    previous: bool = Field(default=False, description="The screenshot of the previous step.")
    terminal: bool = Field(default=False, description="The text of the topmost terminal window.")


class ExtraSpace(Space):
    """A space that adds the requested `Extras` to its observation."""

    Params: type[BaseModel] = Extras

    def __init__(self, params: Any = None, eyes: PerceptionTools | None = None) -> None:
        super().__init__(params, eyes)
        self._before: Frame | None = None

    def look(self, desktop: Desktop, index: int) -> Observation:
        """The observation without its extras, always with a frame."""
        raise NotImplementedError

    def observe(self, desktop: Desktop, index: int) -> Observation:
        observation = self.look(desktop, index)
        extras = self._extras(desktop, observation)
        self._before = observation.frame
        return observation.model_copy(update=extras) if extras else observation

    def _extras(self, desktop: Desktop, observation: Observation) -> Mapping[str, Any]:
        params, extras = self.params, dict[str, Any]()
        if params.windows and observation.windows is None:
            extras["windows"] = tuple(desktop.windows())
        if params.tabs:
            extras["tabs"] = titles_of_tabs(self.looking())
        if params.clipboard:
            extras["clipboard"] = desktop.clipboard()
        if params.terminal:
            extras["terminal"] = terminal_text(desktop)
        if params.previous and self._before is not None:
            extras["previous"] = self._before
        return extras


def titles_of_tabs(eyes: PerceptionTools) -> tuple[str, ...]:
    """Titles of the browser's pages, last used first; empty if no browser offers DevTools."""
    try:
        tabs = eyes.browser().tabs()
    except GuestRefused:
        return ()  # Most desktops run no browser with DevTools, which is normal.
    return tuple((tab.title or tab.url)[:MOST_TITLE] for tab in tabs[:MOST_TABS])


def terminal_text(desktop: Desktop) -> str | None:
    """Text of the focused terminal, else of a visible one; None if no terminal exposes its text.

    Terminals on VTE do (xfce4-terminal, GNOME Terminal), xterm does not.

    Raises:
        GuestLost: the guest's answer has no text in it.
    """
    try:
        answer = desktop.call("GET", "/terminal")
    except GuestRefused as error:
        if error.kind == "not_available":
            return None  # A guest without accessibility, which cannot see into any terminal.
        raise
    text = answer.get("output") if isinstance(answer, Mapping) else answer
    if text is not None and not isinstance(text, str):
        raise GuestLost("the guest's answer about the terminal has no text in `output`", code="guest_protocol_error")
    return None if text is None else text[-MOST_TERMINAL:]
