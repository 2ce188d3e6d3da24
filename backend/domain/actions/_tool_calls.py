"""Shared parts of the vendors' computer tools: reading calls, final tokens in the text, modifiers, wheel clicks."""

from collections.abc import Callable, Sequence

from backend.domain.actions._blocks import MARKDOWN, TOKENS, bare_word, text_of, token
from backend.domain.actions._checked import MOST_ACTIONS, MOST_WHEEL_CLICKS, check_actions
from backend.domain.actions._forms import short
from backend.domain.actions._keys import MODIFIERS, press
from backend.domain.errors import InvalidAction
from backend.domain.model.trajectory import Action, ActionType
from backend.domain.ports.model import ModelReply, ToolCall

PIXELS_PER_CLICK = 100
"""Approximate pixels that a page scrolls per wheel click, as vendors' samples assume."""

ENDING = """When the task is done, answer with the word DONE and call no tool. When it cannot be done, answer with the
word FAIL. The word stands alone on the last line."""


def actions_of(
    reply: ModelReply | str, tool: str, read_call: Callable[[ToolCall, str], Sequence[Action]]
) -> tuple[Action, ...]:
    """The actions of all calls of a reply; without calls, of the token that its text ends in.

    Args:
        reply: the model's reply.
        tool: name of the expected tool, for the message.
        read_call: reads the actions of one call, given its position in the reply.

    Raises:
        InvalidAction: there is neither a call nor a token, or a call is not part of this space.
    """
    text = text_of(reply)
    calls = () if isinstance(reply, str) else reply.calls
    if calls:
        return check_actions(
            action for number, call in enumerate(calls, 1) for action in read_call(call, f"call {number}")
        )
    ending = token(text) or token(text.rstrip(f"{MARKDOWN} \n\r\t")[-100:].rpartition("\n")[2])
    if not ending:
        words = ", ".join(sorted(TOKENS))
        raise InvalidAction(f"no call of {tool}, and the last line has none of {words}", code="action_missing")
    others = {bare_word(line) for line in text.split("\n")} & {"DONE", "FAIL"} - {ending[0].type}
    if others:
        raise InvalidAction(f"{others.pop()} stands before {ending[0].type}", code="action_missing", hint="Write one.")
    return ending


def waits(note: str) -> list[Action]:
    """A WAIT action, for calls that only ask for the screen: the next observation shows it once it is still."""
    return [Action(type=ActionType.WAIT, note=note[:200])]


def typing(text: str) -> list[Action]:
    """Types a text; an empty one is nothing to do."""
    return [Action(type=ActionType.TYPING, text=text)] if text else []


def wheel_clicks(amount: float, path: str) -> int:
    """Wheel clicks as an integer.

    Raises:
        InvalidAction: more clicks than the desktop accepts at once.
    """
    if abs(amount) > MOST_WHEEL_CLICKS:
        raise InvalidAction(
            f"at most {MOST_WHEEL_CLICKS} wheel clicks at once, got {short(amount)}",
            code="too_many_wheel_clicks",
            path=path,
        )
    return round(amount)


def of_pixels(distance: float) -> int:
    """Wheel clicks for a distance in pixels; at least one for any distance other than 0."""
    clicks = min(round(abs(distance) / PIXELS_PER_CLICK), MOST_WHEEL_CLICKS)
    return 0 if distance == 0 else (1 if distance > 0 else -1) * max(1, clicks)


def scrolled(direction: str, clicks: int, at: tuple[int, int] | None) -> Action:
    """A scroll action in a direction."""
    x, y = at or (None, None)
    amounts = {"up": (0, clicks), "down": (0, -clicks), "left": (-clicks, 0), "right": (clicks, 0)}
    dx, dy = amounts[direction]
    return Action(type=ActionType.SCROLL, x=x, y=y, dx=dx, dy=dy)


def dragged(path: Sequence[tuple[int, int]]) -> list[Action]:
    """A drag with the left button from the first point along the path to the last."""
    if len(path) > MOST_ACTIONS - 2:
        raise InvalidAction(
            f"a path of {len(path)} points, at most {MOST_ACTIONS - 2} are drawn", code="too_many_actions"
        )
    (x, y), (to_x, to_y) = path[0], path[-1]
    start = Action(type=ActionType.MOVE_TO, x=x, y=y)
    if len(path) == 2:  # noqa: PLR2004 - from here to there.
        return [start, Action(type=ActionType.DRAG_TO, x=to_x, y=to_y)]
    between = [Action(type=ActionType.MOVE_TO, x=across, y=down) for across, down in path[1:]]
    return [start, Action(type=ActionType.MOUSE_DOWN), *between, Action(type=ActionType.MOUSE_UP)]


def chord(keys: Sequence[str]) -> list[Action]:
    """Keys together if one of them is held for others (Ctrl, Shift, ...), else one after the other.

    A capital letter in a chord means the key: `CTRL` and `A` is not Ctrl+Shift+A.
    """
    if any(key in MODIFIERS for key in keys):
        return [press([key.lower() for key in keys])]
    return [press([key]) for key in keys]


def with_reason(actions: Sequence[Action], reason: str) -> list[Action]:
    """The actions, the first with the model's reason, if there is one."""
    if not reason or not actions:
        return list(actions)
    return [actions[0].model_copy(update={"note": reason[:200]}), *actions[1:]]
