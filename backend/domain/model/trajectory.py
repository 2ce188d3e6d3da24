"""Values exchanged between agent and desktop: actions, observations, decisions, steps."""

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pydantic import Field

from backend.domain.model.episode import EndedBy
from backend.domain.model.model_calls import CallFailure, ModelPart
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
    SCRIPT = "SCRIPT"  # a bash or Python script in the guest, whose output the agent gets
    READ_FILE = "READ_FILE"
    WRITE_FILE = "WRITE_FILE"
    WAIT = "WAIT"
    DONE = "DONE"
    FAIL = "FAIL"


LARGEST_FILE = 512 * 1024
"""Bytes of a file that an agent reads or writes by one action."""
LONGEST_SCRIPT = 300.0
"""Seconds that an agent's script may take at most."""
GUEST_CALLS = frozenset({ActionType.SCRIPT, ActionType.READ_FILE, ActionType.WRITE_FILE})
"""Actions that use neither mouse nor keyboard but scripts and files of the guest."""


class GuestCall(Frozen):
    """Arguments of SCRIPT, READ_FILE and WRITE_FILE.

    Attributes:
        language: of the script, which is the action's text.
        path: the file, or the folder in which a bash script runs; `~` is the user's home.
        data: content to write, base64; at most `LARGEST_FILE` bytes.
        timeout: seconds that the script may take.
    """

    language: str = Field(default="bash", pattern="^(bash|python)$")
    path: str = Field(default="", max_length=4096)
    data: str = Field(default="", max_length=(LARGEST_FILE + 2) // 3 * 4, pattern="^[A-Za-z0-9+/]*={0,2}$", repr=False)
    timeout: float = Field(default=30.0, gt=0, le=LONGEST_SCRIPT)


class Action(Frozen):
    """One typed action; which fields count depends on `type`.

    Attributes:
        x, y: pixels of the desktop's screen, from the top left. None on CLICK etc. = where the pointer is.
        button: `left`, `right`, `middle`.
        clicks: 1 to 3.
        dx, dy: SCROLL amounts in wheel clicks; positive dy scrolls up, as in pyautogui.
        text: TYPING text, PYTHON code, or a SCRIPT.
        keys: PRESS / KEY_DOWN / KEY_UP one key, HOTKEY several; pyautogui's key names.
        guest: how a script or file is meant; None for other actions.
        note: the agent's reason, if any; shown, never executed.
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
    guest: GuestCall | None = Field(default=None, exclude_if=lambda value: value is None)
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
    """One mouse or keyboard interaction, as recorded by the guest.

    Attributes:
        number: counts up within the attempt.
        kind: `click` (a button was pressed) or `type` (text typed without interruption into one control, or one key).
        button, x, y: of a click.
        text: the typed text; a key without text by its name in braces (`{enter}`, `{ctrl+s}`).
        control: name of the control under the click, or of the focused one.
        role: its type, for example `push button`.
        rect: (left, top, width, height) of it in pixels; None if unknown.
        window: title of the active window.
        picture: picture around a click on an unnamed control, PNG in base64.
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
        origin: its source: `tree`, `dom`, `ocr`, `detector`.
        tag, name: role and accessible name, if it comes from a tree.
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
        """The point to click, in screen pixels."""
        return self.x + self.width // 2, self.y + self.height // 2


class ScreenView(Frozen):
    """Position of the screen in the picture shown to the agent, for mapping points back exactly.

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
        """Screen pixel under a point of the picture. Points outside its screen part map outside the screen."""
        across = (x - self.left) / (self.right - self.left) * self.screen_width
        down = (y - self.top) / (self.bottom - self.top) * self.screen_height
        return math.floor(across + 1e-9), math.floor(down + 1e-9)

    def pixel(self, x: float, y: float) -> tuple[int, int]:
        """Screen pixel under the middle of a pixel of the picture, which is how models use integer coordinates."""
        return self.to_screen(math.floor(x) + 0.5, math.floor(y) + 0.5)

    def from_screen(self, x: float, y: float) -> tuple[float, float]:
        """Point of the picture for the middle of a screen pixel."""
        return (
            self.left + (x + 0.5) / self.screen_width * (self.right - self.left),
            self.top + (y + 0.5) / self.screen_height * (self.bottom - self.top),
        )


class Observation(Frozen):
    """The agent's input at one step. Fields outside the observation space are None.

    Attributes:
        frame: the original screenshot, stored in the trajectory.
        agent_view: the picture for the agent, if it differs: scaled, padded, with marks, beside the previous one.
        view: position of the screen in `agent_view`; None = the picture is the screen, pixel by pixel.
        marks: elements that `shown` numbers, or that a table names.
        previous: the frame of the step before.
        terminal: text of the topmost terminal window.
        tabs: titles of the browser's pages, last used first.
        note: message to the agent: why its last action was invalid, how its code failed, what could not be observed.
        results: what came of each action of the last decision, as its step records it.
    """

    index: int
    frame: Frame | None = None
    a11y_tree: str | None = Field(default=None, repr=False)
    windows: tuple[Window, ...] | None = None
    clipboard: str | None = None
    note: str = ""
    agent_view: Frame | None = None
    view: ScreenView | None = None
    marks: tuple[Mark, ...] | None = None
    previous: Frame | None = None
    terminal: str | None = None
    tabs: tuple[str, ...] | None = None
    results: tuple[Mapping[str, Any], ...] = ()

    @property
    def picture(self) -> Frame | None:
        """The picture for the agent."""
        return self.agent_view or self.frame


class Usage(Frozen):
    """Usage of one model call.

    Attributes:
        input_tokens: all input tokens, including cached ones.
        cached_tokens: input tokens found in the API's cache.
        usd: by the price table; 0 where `priced` is False.
        priced: False if the table knows no price for the model and its date.
        calls: requests that were answered.
        wait_seconds: seconds waited for rate limits and failures; not the agent's time.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0
    cached_tokens: int = 0
    priced: bool = True
    calls: int = 0
    wait_seconds: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            usd=self.usd + other.usd,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            priced=self.priced and other.priced,
            calls=self.calls + other.calls,
            wait_seconds=self.wait_seconds + other.wait_seconds,
        )


class ModelCall(Frozen):
    """One call of a model, of an agent that asks several.

    Attributes:
        endpoint: where it was asked.
        model: as its API names it, else as it was requested.
        query: what was asked for, for example the element; empty if it is the step's prompt.
        reply: verbatim; empty if it is the step's.
        seconds: until the answer, without waiting for the API.
        failure: None if the reply could be used.
    """

    part: ModelPart
    endpoint: str
    model: str
    query: str = ""
    reply: str = ""
    seconds: float = 0.0
    usage: Usage = Usage()
    failure: CallFailure | None = None


class SafetyCheck(Frozen):
    """A check by which a model's vendor asks for consent before a call is carried out.

    Attributes:
        code: its kind, as the API names it.
        message: its words.
        acknowledged: consent was given by the run's policy.
    """

    code: str = Field(default="", max_length=200)
    message: str = Field(default="", max_length=4_000)
    acknowledged: bool = False

    @property
    def text(self) -> str:
        """In one line."""
        return ": ".join(filter(None, (self.code, self.message))) or "safety check"


class Decision(Frozen):
    """The agent's answer.

    Attributes:
        actions: executed in order; empty = a wasted step.
        explanation: the agent's explanation, shown beside the step.
        reply: its verbatim reply, if it is a model, without its reasoning.
        reasoning: what the model thought, as its API shows it or its text marks it.
        invalid: why its reply could not be parsed; counted, and reported in the next observation.
        prompt: a model's prompt as text without pictures; bounded by the agent.
        by: who decided: the run's agent, or a person in control.
        stop: the agent ends the episode without DONE or FAIL, for example because its own step budget is used up.
        model: the answering model's name in its API, with its date if given.
        dropped: settings that the API does not support, so that they had no effect.
        safety_checks: of its vendor, of calls in the reply.
        model_calls: of an agent that asks several models; `usage` is their sum.
    """

    actions: tuple[Action, ...] = ()
    explanation: str = ""
    reply: str = ""
    reasoning: str = ""
    invalid: str = ""
    usage: Usage = Usage()
    prompt: str = ""
    by: str = Field(default="agent", pattern="^(agent|person)$")
    stop: EndedBy | None = None
    model: str = ""
    dropped: tuple[str, ...] = ()
    safety_checks: tuple[SafetyCheck, ...] = ()
    model_calls: tuple[ModelCall, ...] = ()


class StepTiming(Frozen):
    """Seconds of one step by phase, from the end of the previous actions to the end of its own.

    Attributes:
        settle: until the screen was still after the previous actions, and the agent's own WAIT.
        record: storing the previous step, beyond that settling.
        observe: until the observation was ready.
        agent: until the agent had answered, without waiting for a model's API.
        wait: waiting for a model's API (rate limits, failures), or for a broken channel to an external agent.
        action: until the input was delivered.
        person: everything of a person in control, including acting and settling.
        check: evaluating the task's parts before the observation.
        total: the sum. `overhead` is what our code added: all but agent, wait, action, person, settling and check.
    """

    observe: float = 0.0
    agent: float = 0.0
    wait: float = 0.0
    action: float = 0.0
    settle: float = 0.0
    record: float = 0.0
    person: float = 0.0
    check: float = 0.0
    total: float = 0.0

    @property
    def overhead(self) -> float:
        """Seconds that are neither the agent's, its model API's, a person's, the action's, the page's nor a check's."""
        others = self.agent + self.wait + self.action + self.settle + self.person + self.check
        return max(0.0, self.total - others)


class StepRecord(Frozen):
    """A recorded step: the observation, the decision, its results."""

    index: int
    observation: Observation
    decision: Decision
    results: tuple[Mapping[str, Any], ...] = ()
    timing: StepTiming = StepTiming()
