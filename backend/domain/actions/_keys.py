"""Key names: pyautogui's, and those of xdotool, web pages and vendors for the same keys."""

import re
import string
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from backend.domain.actions._keysyms import character
from backend.domain.errors import InvalidAction
from backend.domain.model.trajectory import Action, ActionType

_NAMED = """
tab enter return space backspace esc escape shift shiftleft shiftright ctrl ctrlleft ctrlright alt altleft altright
option optionleft optionright win winleft winright command apps modechange capslock numlock scrolllock up down left
right home end pageup pgup pagedown pgdn insert del delete print printscreen prntscrn prtsc prtscr pause help clear
select execute multiply add separator subtract decimal divide convert nonconvert kana kanji hanguel hangul hanja junja
yen browserback browserforward browserrefresh browserstop browsersearch browserfavorites browserhome volumemute
volumedown volumeup nexttrack prevtrack stop playpause launchmail launchmediaselect launchapp1 launchapp2 sleep accept
final fn
"""

KEYS = (
    frozenset(_NAMED.split())
    | {f"f{number}" for number in range(1, 25)}
    | {f"num{digit}" for digit in range(10)}
    | frozenset(string.ascii_lowercase + string.digits + string.punctuation + "\t\n\r ")
)
"""All names of pyautogui 0.9's KEYBOARD_KEYS."""
X11_KEYS = frozenset({"undo", "redo", "find", "cancel"})
"""Keys that Linux desktops have beside them."""

MODIFIERS = frozenset(
    f"{name}{side}" for name in ("ctrl", "shift", "alt", "win", "option") for side in ("", "left", "right")
) | {"command", "fn"}

_SIGNS = """
plus + minus - equal = comma , period . dot . slash / backslash \\ semicolon ; apostrophe ' quoteright ' grave `
quoteleft ` backtick ` bracketleft [ bracketright ] exclam ! at @ numbersign # dollar $ percent % asciicircum ^
ampersand & asterisk * parenleft ( parenright ) underscore _ braceleft { braceright } bar | colon : quotedbl " less <
greater > question ? asciitilde ~
"""

_OTHERS = """
control ctrl, controll ctrlleft, controlr ctrlright, ctrll ctrlleft, ctrlr ctrlright, shiftl shiftleft,
shiftr shiftright, altl altleft, altr altright, altgr altright, isolevel3shift altright, super win, superl win,
superr winright, windows win, windowsleft win, meta win, metal win, metar winright, cmd win, os win, opt option,
kpenter enter, linefeed enter, bs backspace, bksp backspace, ins insert, prior pageup, next pagedown, pagedn pagedown,
arrowup up, arrowdown down, arrowleft left, arrowright right, uparrow up, downarrow down, leftarrow left,
rightarrow right, spacebar space, menu apps, contextmenu apps, caps capslock, scroll scrolllock, sysrq printscreen,
break pause, kpadd add, kpsubtract subtract, kpmultiply multiply, kpdivide divide, kpdecimal decimal, kpdelete delete,
kphome home, kpend end, kpprior pageup, kpnext pagedown, kpup up, kpdown down, kpleft left, kpright right,
isolefttab tab, kpequal =, kpspace space, kptab tab, kpinsert insert, kppageup pageup, kppagedown pagedown,
kpseparator separator, kpf1 f1, kpf2 f2, kpf3 f3, kpf4 f4,
xf86audiomute volumemute, xf86audiolowervolume volumedown, xf86audioraisevolume volumeup,
xf86audioplay playpause, xf86audionext nexttrack, xf86audioprev prevtrack, xf86back browserback,
xf86forward browserforward, xf86audiopause playpause, xf86audiostop stop, xf86audiomedia launchmediaselect,
xf86refresh browserrefresh, xf86reload browserrefresh, xf86stop browserstop, xf86search browsersearch,
xf86favorites browserfavorites, xf86homepage browserhome, xf86mail launchmail, xf86mycomputer launchapp1,
xf86explorer launchapp1, xf86calculator launchapp2, xf86sleep sleep, goback browserback, goforward browserforward
"""

_SYMBOLS: Mapping[str, str] = MappingProxyType(
    {
        "⌘": "win",
        "⌃": "ctrl",
        "⌥": "option",
        "⇧": "shift",
        "⏎": "enter",
        "↵": "enter",
        "↩": "enter",
        "⇥": "tab",
        "⌫": "backspace",
        "⌦": "delete",
        "⎋": "esc",
        "␣": "space",
        "←": "left",
        "↑": "up",
        "→": "right",
        "↓": "down",
        "⇞": "pageup",
        "⇟": "pagedown",
        "⇪": "capslock",
    }
)
"""Keys as menus and keyboards show them."""
_ALIASES: Mapping[str, str] = MappingProxyType(
    {
        **dict(zip(_SIGNS.split()[::2], _SIGNS.split()[1::2], strict=True)),
        **dict(pair.split() for pair in _OTHERS.replace("\n", " ").split(",")),
        **{f"kp{digit}": f"num{digit}" for digit in range(10)},
    }
)
_MOST_AT_ONCE = 10
_MOST_STROKES = 100
_LONGEST = 1_000
_AROUND_SEPARATOR = re.compile(r"\s*\+\s*|(?<=\w)\s+-\s+(?=\w)")


def known(name: str) -> bool:
    """Whether the guest knows a key of that name; every printable character counts as a key."""
    if len(name) == 1:
        return name in KEYS or name.isprintable()
    return name.strip().lower() in KEYS | X11_KEYS


def key_of(name: str, path: str = "") -> str:
    """The name in pyautogui of a key that is named in another convention; a character by itself.

    Raises:
        InvalidAction: the name is unknown.
    """
    key = _key(name)
    if not key:
        raise InvalidAction(
            f"there is no key {name[:40]!r}",
            code="unknown_key",
            path=path,
            hint="For example enter, ctrl, a, f5, pagedown.",
        )
    return key


def _key(name: str) -> str:
    if len(name) == 1 and known(name):
        return _SYMBOLS.get(name, name)
    plain = name.strip().lower()
    # `ctrl-` is a combination that lacks a key, and `ctrl-l` is not the left one.
    first = plain.partition("-")[0].strip()
    combined = ("-" in plain and _ALIASES.get(first, first) in {"", *MODIFIERS}) or plain.endswith("-")
    bare = "" if combined else plain.replace("_", "").replace("-", "").replace(" ", "")
    key = plain if known(plain) else _ALIASES.get(bare, bare)
    return key if key in KEYS | X11_KEYS else character(name.strip())


def strokes(text: str, path: str = "") -> tuple[tuple[str, ...], ...]:
    """The strokes of `ctrl+a Delete`, separated by spaces as in xdotool; each is of keys that are pressed together.

    Spaces around `+` and inside of a key's name do not separate: `Ctrl + S`, `Page Down`.

    Raises:
        InvalidAction: a key is unknown or missing, Ctrl or Shift is alone before another one, or there are too many.
    """
    plain = _squeeze(text.strip(), path)
    words = plain.split() or [" " if text else ""]
    if len(words) > _MOST_STROKES:
        raise InvalidAction(f"more than {_MOST_STROKES} strokes", code="too_many_keys", path=path)
    try:
        result = tuple(combination(word, path) for word in words)
    except InvalidAction:
        if len(words) > 1 and (together := _together(plain)):
            return (together,)
        raise
    if any(len(keys) == 1 and keys[0].startswith(("ctrl", "shift")) for keys in result[:-1]):
        raise InvalidAction(
            f"{text[:40]!r} presses a modifier by itself",
            code="invalid_keys",
            path=path,
            hint="Join keys by +: ctrl+c.",
        )
    return result


def combination(text: str, path: str = "") -> tuple[str, ...]:
    """The keys of `ctrl+shift+s` or `ctrl-s`; the separator by itself and at the end of `ctrl++` is the key.

    A capital letter beside a modifier means the key: `CTRL+L` is not Ctrl+Shift+L.

    Raises:
        InvalidAction: a key is unknown or missing, or there are too many.
    """
    plain = _squeeze(text, path)
    keys = _together(plain)
    if len(keys) > _MOST_AT_ONCE:
        raise InvalidAction(f"more than {_MOST_AT_ONCE} keys at once", code="too_many_keys", path=path)
    if keys:
        return keys
    names = next((names for names in (_split(plain, "+"), _split(plain, "-")) if _key(names[0])), [plain])
    if not all(names):
        raise InvalidAction(f"a key is missing in {text[:40]!r}", code="invalid_keys", path=path)
    return (key_of(next(name for name in names if not _together(name)), path),)


def _squeeze(text: str, path: str) -> str:
    if len(text) > _LONGEST:
        raise InvalidAction(f"more than {_LONGEST} characters of keys", code="too_many_keys", path=path)
    return _AROUND_SEPARATOR.sub(lambda match: match[0].strip(), text if text == " " else text.strip())


def _together(text: str) -> tuple[str, ...]:
    """The keys, empty if one of them is unknown."""
    if key := _key(text):
        return (key,)
    for separator in "+-":
        names = _split(text, separator)
        parts = [_together(part) for part in names] if len(names) > 1 else []
        if parts and all(parts):
            return _chord([key for part in parts for key in part])
    return ()


def _split(text: str, separator: str) -> list[str]:
    names = text.split(separator)
    return [*names[:-2], separator] if text.endswith(2 * separator) else names


def _chord(keys: Sequence[str]) -> tuple[str, ...]:
    modified = any(key in MODIFIERS for key in keys)
    return tuple(key.lower() if modified and len(key) == 1 else key for key in keys)


def press(keys: Sequence[str]) -> Action:
    """One press of a key, or of several keys together."""
    return Action(type=ActionType.PRESS if len(keys) == 1 else ActionType.HOTKEY, keys=tuple(keys))


def with_keys_down(keys: Sequence[str], actions: Sequence[Action]) -> tuple[Action, ...]:
    """The actions, performed while keys are held down."""
    down = [Action(type=ActionType.KEY_DOWN, keys=(key,)) for key in keys]
    up = [Action(type=ActionType.KEY_UP, keys=(key,)) for key in reversed(keys)]
    return (*down, *actions, *up)
