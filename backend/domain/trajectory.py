"""What passes between agent and desktop, and what is kept of it: actions, observations, decisions, steps."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pydantic import Field

from backend.domain.task import Frozen


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


class Observation(Frozen):
    """What the agent sees at one step. Fields that the observation space does not ask for are None."""

    index: int
    frame: Frame | None = None
    a11y_tree: str | None = Field(default=None, repr=False)
    windows: tuple[Window, ...] | None = None
    clipboard: str | None = None
    note: str = ""  # what the loop tells the agent: for example why its last action was invalid


class Usage(Frozen):
    """What one model call cost."""

    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0


class Decision(Frozen):
    """What the agent answered.

    Attributes:
        actions: carried out in order; empty = a wasted step.
        words: the agent's explanation, shown beside the step.
        reply: its verbatim reply, if it is a model.
        invalid: why its reply could not be understood; counted, told back in the next observation.
    """

    actions: tuple[Action, ...] = ()
    words: str = ""
    reply: str = ""
    invalid: str = ""
    usage: Usage = Usage()


class StepTiming(Frozen):
    """Seconds of one step by part, from the end of the actions before to the end of its own.

    Attributes:
        settle: until the page stood still after the actions before, and what the agent's own WAIT waited.
        record: what keeping the step before took beyond that settling.
        observe: until the observation was there.
        agent: until the agent had answered.
        action: until the input was delivered.
        total: all of it. `overhead` is what our code added: all but agent, action and settling.
    """

    observe: float = 0.0
    agent: float = 0.0
    action: float = 0.0
    settle: float = 0.0
    record: float = 0.0
    total: float = 0.0

    @property
    def overhead(self) -> float:
        """Seconds that are neither the agent's, nor the action's, nor the page's."""
        return max(0.0, self.total - self.agent - self.action - self.settle)


class StepRecord(Frozen):
    """One step as it is kept: the observation before, the decision, what came of it."""

    index: int
    observation: Observation
    decision: Decision
    results: tuple[Mapping[str, Any], ...] = ()
    timing: StepTiming = StepTiming()
