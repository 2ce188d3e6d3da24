"""Mouse and keyboard input of a person on a desktop, checked and bounded.

One message is one step, as the human study of WAA counts them: a click, a typed run of text, a key or hotkey, a scroll,
a drag. A drag and a scroll begin by moving the pointer, so a message has up to two actions.
"""

from typing import Any

from pydantic import ValidationError

from backend.domain.errors import Invalid
from backend.domain.loop.action_execution import complaint
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import Action, ActionType
from backend.domain.model.validation_words import problem_words

MOST_ACTIONS = 2
MOST_TEXT = 10_000
MOST_KEYS = 5
MOST_SCROLL = 100
HAND = frozenset(
    {
        ActionType.MOVE_TO,
        ActionType.CLICK,
        ActionType.DRAG_TO,
        ActionType.SCROLL,
        ActionType.TYPING,
        ActionType.PRESS,
        ActionType.HOTKEY,
    }
)
ENDINGS = frozenset({ActionType.DONE, ActionType.FAIL})


def read_hand(value: Any, screen: ScreenSize, *, may_end: bool) -> tuple[Action, ...]:
    """The actions of one message, in screen pixels.

    Args:
        value: a list of actions as JSON, from an untrusted sender.
        screen: a point must lie on it.
        may_end: DONE and FAIL are allowed: who acts is the agent, not a helper.

    Raises:
        Invalid: it is not a mouse or keyboard action; `path` says where.
    """
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_ACTIONS:
        raise Invalid(f"expected a list of 1 to {MOST_ACTIONS} actions", code="invalid_input", path="actions")
    return tuple(_action(action, screen, f"actions.{at}", may_end=may_end) for at, action in enumerate(value))


def _action(value: Any, screen: ScreenSize, path: str, *, may_end: bool) -> Action:
    try:
        action = Action.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise Invalid(
            problem_words(first), code="invalid_input", path=".".join([path, *map(str, first["loc"])])
        ) from error
    if action.type not in HAND | (ENDINGS if may_end else frozenset()):
        raise Invalid(f"{action.type} is nothing that a person may do here", code="invalid_input", path=path)
    wrong = _too_much(action) or complaint(action, screen)
    if wrong:
        raise Invalid(wrong, code="invalid_input", path=path)
    return action


def _too_much(action: Action) -> str:
    if len(action.text) > MOST_TEXT:
        return f"the text is longer than {MOST_TEXT} characters"
    if len(action.keys) > MOST_KEYS or any(len(key) > MOST_TEXT for key in action.keys):
        return f"at most {MOST_KEYS} keys at once"
    return f"at most {MOST_SCROLL} wheel clicks at once" if max(abs(action.dx), abs(action.dy)) > MOST_SCROLL else ""


def in_words(actions: tuple[Action, ...]) -> str:
    """Short description of the input."""
    return " and ".join(str(action.type).replace("_", " ").lower() for action in actions)
