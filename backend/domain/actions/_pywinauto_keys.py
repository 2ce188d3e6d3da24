"""The key language of pywinauto's `send_keys`: `hello{ENTER}`, `^s`, `%{F4}`, `+(ab)`, `{TAB 2}`, `{VK_LWIN down}`."""

from collections.abc import Iterator
from dataclasses import dataclass

from backend.domain.actions._checked import MOST_ACTIONS
from backend.domain.actions._keys import key_of, known
from backend.domain.errors import InvalidAction
from backend.domain.model.trajectory import Action, ActionType

_MODIFIERS = {"^": "ctrl", "+": "shift", "%": "alt"}
_SPECIAL = frozenset("^+%(){}~")
_CODES = {
    "menu": "alt",
    "lmenu": "altleft",
    "rmenu": "altright",
    "control": "ctrl",
    "lcontrol": "ctrlleft",
    "rcontrol": "ctrlright",
    "lshift": "shiftleft",
    "rshift": "shiftright",
    "lwin": "winleft",
    "rwin": "winright",
    "back": "backspace",
    "capital": "capslock",
    "snapshot": "printscreen",
    "apps": "apps",
    "return": "enter",
}
_LONGEST = 20_000


@dataclass
class _Reader:
    text: str
    at: int = 0

    def next(self) -> str:
        """The next character, empty at the end."""
        char = self.text[self.at : self.at + 1]
        self.at += 1
        return char

    def upto(self, end: str, part: str) -> str:
        """The text before the next `end`, which is consumed."""
        # A brace is escaped by braces: `{}}`.
        stop = self.text.find(end, self.at + 1)
        if stop < 0:
            raise InvalidAction(
                f"{part} is not closed",
                code="invalid_keys",
                path="Args.keys",
                hint="Write {{} or {(} for the sign itself.",
            )
        text = self.text[self.at : stop]
        self.at = stop + 1
        return text


def key_actions(text: str) -> list[Action]:
    """The actions of a key text; consecutive plain characters are typed together.

    Raises:
        InvalidAction: a brace or bracket is not closed, a key unknown, or a modifier has no key.
    """
    if len(text) > _LONGEST:
        raise InvalidAction(f"more than {_LONGEST} characters of keys", code="too_many_keys", path="Args.keys")
    actions: list[Action] = []
    typed = ""
    for part in _parts(_Reader(text)):
        if isinstance(part, str):
            typed += part
            continue
        actions.extend([Action(type=ActionType.TYPING, text=typed)] if typed else [])
        typed = ""
        actions.append(part)
        if len(actions) > MOST_ACTIONS:
            raise InvalidAction(f"more than {MOST_ACTIONS} keys in one reply", code="too_many_keys", path="Args.keys")
    return [*actions, *([Action(type=ActionType.TYPING, text=typed)] if typed else [])]


def _parts(reader: _Reader) -> Iterator[str | Action]:
    """Characters to type and key presses, in order."""
    modifiers: tuple[str, ...] = ()
    while char := reader.next():
        if char in _MODIFIERS:
            modifiers += (_MODIFIERS[char],) if _MODIFIERS[char] not in modifiers else ()
            continue
        yield from _press_char(char, reader, modifiers)
        modifiers = ()
    if modifiers:
        sign = reader.text[-1]
        hint = f"Write {{{sign}}} for the sign itself."
        raise InvalidAction(
            f"the modifier {sign} at the end has no key", code="invalid_keys", path="Args.keys", hint=hint
        )


def _press_char(char: str, reader: _Reader, modifiers: tuple[str, ...]) -> Iterator[str | Action]:
    if char == "(":
        for inner in reader.upto(")", "a bracket"):
            if inner in _SPECIAL:
                raise InvalidAction(f"{inner} inside of brackets is not read", code="invalid_keys", path="Args.keys")
            yield from _stroke(inner, modifiers)
    elif char == "{":
        yield from _parse_braces(reader.upto("}", "a brace"), modifiers)
    elif char == "~":
        yield from _stroke("enter", modifiers)
    elif char in ")}":
        raise InvalidAction(
            f"{char} closes nothing",
            code="invalid_keys",
            path="Args.keys",
            hint=f"Write {{{char}}} for the sign itself.",
        )
    else:
        yield from _stroke(char, modifiers)


def _stroke(key: str, modifiers: tuple[str, ...]) -> Iterator[str | Action]:
    if modifiers:
        yield Action(
            type=ActionType.HOTKEY, keys=(*modifiers, {"\n": "enter", "\t": "tab", " ": "space"}.get(key, key))
        )
    elif len(key) == 1:
        yield key
    else:
        yield Action(type=ActionType.PRESS, keys=(key,))


def _parse_braces(inside: str, modifiers: tuple[str, ...]) -> Iterator[str | Action]:
    """Parses the content of braces: a key or a sign, optionally with a count, or a key with `down` or `up`."""
    name, _, how = inside.strip().partition(" ") if inside.strip() else (" ", "", "")
    how = how.strip().lower()
    key = name if len(name) == 1 else _key(name)
    if how in {"down", "up"}:
        kind = ActionType.KEY_DOWN if how == "down" else ActionType.KEY_UP
        yield Action(type=kind, keys=(key,))
        return
    if how and not (how.isdecimal() and len(how) < 4 and int(how) <= MOST_ACTIONS):  # noqa: PLR2004
        raise InvalidAction(
            f"{{{inside[:40]}}} is not a key", code="unknown_key", path="Args.keys", hint="For example {TAB 2}."
        )
    for _ in range(int(how or 1)):
        yield from _stroke(key, modifiers)


def _key(name: str) -> str:
    plain = name.lower().removeprefix("vk_")
    key = _CODES.get(plain, plain) if name.lower().startswith("vk_") or not known(plain) else plain
    return key_of(key, "Args.keys")
