"""What passes between agent and desktop, and what is kept of it: actions, observations, decisions, steps."""

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pydantic import Field

from backend.domain.model.episode import EndedBy
from backend.domain.model.task import Frozen


class ActionType(StrEnum):
    """Every action that the loop understands. Names are `computer_13`'s where it has one."""

    MOVE_TO = "MOVE_TO"
    CLICK = "CLICK"
    MOUSE_DOWN = "MOUSE_DOWN"
    MOUSE_UP = "MOUSE_UP"
    DRAG_TO = "DRAG_TO"
    SCROLL = "SCROLL"
    TYPING = "TYPING"
    PRESS = "PRESS"
    KEY_DOWN = "KEY_DOWN"
    KEY_UP = "KEY_UP"
    HOTKEY = "HOTKEY"
    PYTHON = "PYTHON"  # pyautogui code, run inside the guest
    WAIT = "WAIT"
    DONE = "DONE"
    FAIL = "FAIL"


class Action(Frozen):
    """One typed action; which fields count depends on `type`.

    Attributes:
        x, y: pixels of the desktop's screen, from the top left. None on CLICK etc. = where the pointer is.
        button: `left`, `right`, `middle`.
        clicks: 1 to 3.
        dx, dy: SCROLL amounts in wheel clicks; positive dy scrolls up, as in pyautogui.
        text: TYPING text, or PYTHON code.
        keys: PRESS / KEY_DOWN / KEY_UP one key, HOTKEY several; pyautogui's key names.
        note: why, in a few words, if the agent says so; shown, never executed.
    """

    type: ActionType
    x: int | None = None
    y: int | None = None
    button: str = Field(default="left", pattern="^(left|right|middle)$")
    clicks: int = Field(default=1, ge=1, le=3)
    dx: int = 0
    dy: int = 0
    text: str = ""
    keys: tuple[str, ...] = ()
    note: str = ""


class Window(Frozen):
    """A top-level window; rectangle in screen pixels."""

    title: str
    wm_class: str = ""
    x: int = 0
    y: int = 0
    width: int = 0
    height: int = 0
    active: bool = False
    pid: int | None = None


class Interaction(Frozen):
    """One thing that was done to the desktop with mouse or keyboard, as the guest saw it.

    Attributes:
        number: counts up within the attempt.
        kind: `click` (a button was pressed) or `type` (text typed in one go with one control focused, or one key).
        button, x, y: of a click.
        text: what was typed; a key that types nothing by its name in braces (`{enter}`, `{ctrl+s}`).
        control: name of the control under the click, or of the focused one.
        role: its type, for example `push button`.
        rect: (left, top, width, height) of it in pixels; None if unknown.
        window: title of the active window.
        picture: what the screen showed around a click for which the program names no control, PNG in base64.
    """

    number: int
    kind: str = Field(pattern="^(click|type)$")
    button: str = ""
    x: int | None = None
    y: int | None = None
    text: str = Field(default="", max_length=10_000)
    control: str = Field(default="", max_length=2000)
    role: str = Field(default="", max_length=200)
    rect: tuple[int, int, int, int] | None = None
    window: str = Field(default="", max_length=2000)
    picture: str = Field(default="", max_length=100_000, repr=False)


class Frame(Frozen):
    """One picture of the screen.

    Attributes:
        data: encoded bytes.
        media_type: `image/jpeg` or `image/png`.
        width, height: pixels.
    """

    data: bytes = Field(repr=False)
    media_type: str
    width: int
    height: int


class Mark(Frozen):
    """One numbered element of a set-of-marks picture (protocols §4).

    Attributes:
        id: its number on the picture, from 1.
        kind: `text`, `icon`, `image` or `control`.
        text: content, caption or accessible name; bounded by the space that made it.
        x, y, width, height: its box in screen pixels.
        origin: who found it: `tree`, `dom`, `ocr`, `detector`.
        tag, name: role and accessible name, where it comes from a tree.
    """

    id: int = Field(ge=1)
    kind: str = Field(pattern="^(text|icon|image|control)$")
    text: str = ""
    x: int
    y: int
    width: int = Field(ge=1)
    height: int = Field(ge=1)
    origin: str = Field(pattern="^(tree|dom|ocr|detector)$")
    tag: str = ""
    name: str = ""

    @property
    def centre(self) -> tuple[int, int]:
        """Where a click on it goes, in screen pixels."""
        return self.x + self.width // 2, self.y + self.height // 2


class ScreenView(Frozen):
    """Where the screen lies in the picture that the agent is shown, so that its points can be mapped back exactly.

    Attributes:
        width, height: of the whole picture in its own pixels.
        left, top, right, bottom: the part of it that shows the screen; the rest is padding or an earlier screen.
        screen_width, screen_height: the screen's pixels.
    """

    width: int = Field(ge=1)
    height: int = Field(ge=1)
    left: float = 0.0
    top: float = 0.0
    right: float
    bottom: float
    screen_width: int = Field(ge=1)
    screen_height: int = Field(ge=1)

    def to_screen(self, x: float, y: float) -> tuple[int, int]:
        """Screen pixel under a point of the picture. Points beside the screen's part come out off the screen."""
        across = (x - self.left) / (self.right - self.left) * self.screen_width
        down = (y - self.top) / (self.bottom - self.top) * self.screen_height
        return math.floor(across + 1e-9), math.floor(down + 1e-9)

    def pixel(self, x: float, y: float) -> tuple[int, int]:
        """Screen pixel under the middle of a pixel of the picture, which is what a model means by whole numbers."""
        return self.to_screen(math.floor(x) + 0.5, math.floor(y) + 0.5)

    def from_screen(self, x: float, y: float) -> tuple[float, float]:
        """Point of the picture where the middle of a screen pixel lies."""
        return (
            self.left + (x + 0.5) / self.screen_width * (self.right - self.left),
            self.top + (y + 0.5) / self.screen_height * (self.bottom - self.top),
        )


class Observation(Frozen):
    """What the agent sees at one step. Fields that the observation space does not ask for are None.

    Attributes:
        frame: the screen as it is: what the trajectory keeps.
        shown: the picture for the agent where it is another one: scaled, padded, with marks, beside the previous one.
        view: where the screen lies in `shown`; None = the picture is the screen, pixel by pixel.
        marks: elements that `shown` numbers, or that a table names.
        previous: the frame of the step before.
        terminal: text of the topmost terminal window.
        tabs: titles of the browser's pages, the one used last first.
        note: what the agent is told besides: why its last action was invalid, what could not be looked at.
    """

    index: int
    frame: Frame | None = None
    a11y_tree: str | None = Field(default=None, repr=False)
    windows: tuple[Window, ...] | None = None
    clipboard: str | None = None
    note: str = ""
    shown: Frame | None = None
    view: ScreenView | None = None
    marks: tuple[Mark, ...] | None = None
    previous: Frame | None = None
    terminal: str | None = None
    tabs: tuple[str, ...] | None = None

    @property
    def picture(self) -> Frame | None:
        """The picture that an agent is to look at."""
        return self.shown or self.frame


class Usage(Frozen):
    """What one model call cost.

    Attributes:
        input_tokens: all that was sent, cached ones included.
        cached_tokens: those of them that the API had in its cache.
        usd: by the price table; 0 where `priced` is False.
        priced: False if the table knows no price for the model and its date.
        calls: requests that were answered.
        held_seconds: waited because of the API's limits or failures; not the agent's time.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0
    cached_tokens: int = 0
    priced: bool = True
    calls: int = 0
    held_seconds: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            usd=self.usd + other.usd,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            priced=self.priced and other.priced,
            calls=self.calls + other.calls,
            held_seconds=self.held_seconds + other.held_seconds,
        )


class Decision(Frozen):
    """What the agent answered.

    Attributes:
        actions: carried out in order; empty = a wasted step.
        words: the agent's explanation, shown beside the step.
        reply: its verbatim reply, if it is a model.
        invalid: why its reply could not be understood; counted, told back in the next observation.
        prompt: what it was asked, as text without pictures, if it is a model; bounded by the agent.
        by: who decided: the run's agent, or a person who has taken over.
        stop: the agent ends the episode without DONE or FAIL, for example because its own step budget is used up.
        model: as its API names what answered, with its date where it says so.
        dropped: settings that the API does not know, so that they had no effect.
    """

    actions: tuple[Action, ...] = ()
    words: str = ""
    reply: str = ""
    invalid: str = ""
    usage: Usage = Usage()
    prompt: str = ""
    by: str = Field(default="agent", pattern="^(agent|person)$")
    stop: EndedBy | None = None
    model: str = ""
    dropped: tuple[str, ...] = ()


class StepTiming(Frozen):
    """Seconds of one step by part, from the end of the actions before to the end of its own.

    Attributes:
        settle: until the page stood still after the actions before, and what the agent's own WAIT waited.
        record: what keeping the step before took beyond that settling.
        observe: until the observation was there.
        agent: until the agent had answered, without what a model's API made it wait.
        held: waited for a model's API because of its limits or failures, or for a broken line to who acts from outside.
        action: until the input was delivered.
        person: all that a person who had taken over needed, acting and settling included.
        check: looking at the parts of the task that are checked after each step, before its observation.
        total: the sum. `overhead` is what our code added: all but agent, held, action, person, settling and check.
    """

    observe: float = 0.0
    agent: float = 0.0
    held: float = 0.0
    action: float = 0.0
    settle: float = 0.0
    record: float = 0.0
    person: float = 0.0
    check: float = 0.0
    total: float = 0.0

    @property
    def overhead(self) -> float:
        """Seconds that are neither the agent's, its model API's, a person's, the action's, the page's nor a check's."""
        others = self.agent + self.held + self.action + self.settle + self.person + self.check
        return max(0.0, self.total - others)


class StepRecord(Frozen):
    """One step as it is kept: the observation before, the decision, its results."""

    index: int
    observation: Observation
    decision: Decision
    results: tuple[Mapping[str, Any], ...] = ()
    timing: StepTiming = StepTiming()
