"""Final check of parsed actions: none is too large, and none would be refused after others were executed."""

import unicodedata
from collections.abc import Iterable

from backend.domain.actions._keys import known
from backend.domain.errors import InvalidAction
from backend.domain.model.trajectory import Action, ActionType

MOST_ACTIONS = 200
LONGEST_TEXT = 20_000
LONGEST_CODE = 30_000
MOST_WHEEL_CLICKS = 200
_ENDS = frozenset({ActionType.DONE, ActionType.FAIL})
_TYPED_CONTROLS = frozenset("\n\t\b\r")


def check_actions(actions: Iterable[Action]) -> tuple[Action, ...]:
    """The same actions, checked.

    Raises:
        InvalidAction: there are too many actions, or the guest is known to refuse one.
    """
    result: list[Action] = []
    for action in actions:
        if len(result) == MOST_ACTIONS:
            raise InvalidAction(f"more than {MOST_ACTIONS} actions in one reply", code="too_many_actions")
        if result and result[-1].type in _ENDS and action.type is not result[-1].type:
            raise InvalidAction("DONE and FAIL come last", code="invalid_code", hint="Write nothing behind them.")
        _check(action)
        result.append(action)
    return tuple(result)


def _check(action: Action) -> None:
    for key in action.keys:
        if not known(key):
            raise InvalidAction(
                f"there is no key {key[:40]!r}",
                code="unknown_key",
                hint="Use pyautogui's key names, for example enter.",
            )
    if max(abs(action.dx), abs(action.dy)) > MOST_WHEEL_CLICKS:
        raise InvalidAction(f"more than {MOST_WHEEL_CLICKS} wheel clicks at once", code="too_many_wheel_clicks")
    if action.type is ActionType.TYPING:
        _check_text(action.text)


def _check_text(text: str) -> None:
    if not text:
        raise InvalidAction("there is no text to type", code="text_empty")
    if len(text) > LONGEST_TEXT:
        raise InvalidAction(
            f"the text to type has {len(text)} characters, at most {LONGEST_TEXT} are typed at once",
            code="input_too_long",
        )
    for char in text:
        if unicodedata.category(char) in {"Cc", "Cs"} and char not in _TYPED_CONTROLS:
            raise InvalidAction(f"character U+{ord(char):04X} cannot be typed", code="character_not_typable")
