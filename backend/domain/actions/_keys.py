"""Key names: pyautogui's, and those of xdotool, web pages and vendors for the same keys."""

import string
from collections.abc import Mapping, Sequence
from types import MappingProxyType

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
isolefttab tab, xf86audiomute volumemute, xf86audiolowervolume volumedown, xf86audioraisevolume volumeup,
xf86audioplay playpause, xf86audionext nexttrack, xf86audioprev prevtrack, xf86back browserback,
xf86forward browserforward, goback browserback, goforward browserforward
"""

_ALIASES: Mapping[str, str] = MappingProxyType(
    {
        **dict(zip(_SIGNS.split()[::2], _SIGNS.split()[1::2], strict=True)),
        **dict(pair.split() for pair in _OTHERS.replace("\n", " ").split(",")),
        **{f"kp{digit}": f"num{digit}" for digit in range(10)},
    }
)
_MOST_AT_ONCE = 10


def known(name: str) -> bool:
    """Whether the guest knows a key of that name; every printable character counts as a key."""
    if len(name) == 1:
        return name in KEYS or name.isprintable()
    return name.strip().lower() in KEYS


def key_of(name: str, path: str = "") -> str:
    """The name in pyautogui of a key that is named in another convention.

    Raises:
        InvalidAction: the name is unknown.
    """
    if len(name) == 1 and known(name):
        return name
    plain = name.strip().lower()
    if plain in KEYS:
        return plain
    bare = plain.replace("_", "").replace("-", "").replace(" ", "")
    key = _ALIASES.get(bare, bare)
    if key not in KEYS:
        raise InvalidAction(
            f"there is no key {name[:40]!r}",
            code="unknown_key",
            path=path,
            hint="For example enter, ctrl, a, f5, pagedown.",
        )
    return key


def combination(text: str, path: str = "", separator: str = "+") -> tuple[str, ...]:
    """The keys of `ctrl+shift+s`; `+` by itself and at the end of `ctrl++` is the key.

    Raises:
        InvalidAction: a key is unknown or missing.
    """
    if text == separator:
        return (separator,)
    names = text.split(separator, _MOST_AT_ONCE + 1)
    if text.endswith(2 * separator):
        names = [*names[:-2], separator]
    if len(names) > _MOST_AT_ONCE:
        raise InvalidAction(f"more than {_MOST_AT_ONCE} keys at once", code="too_many_keys", path=path)
    if not all(name.strip() or name == " " for name in names):
        raise InvalidAction(f"a key is missing in {text[:40]!r}", code="invalid_keys", path=path)
    return tuple(key_of(name if name == " " else name.strip(), path) for name in names)


def pressed(keys: Sequence[str]) -> Action:
    """One press of a key, or of several keys together."""
    return Action(type=ActionType.PRESS if len(keys) == 1 else ActionType.HOTKEY, keys=tuple(keys))


def with_keys_down(keys: Sequence[str], actions: Sequence[Action]) -> tuple[Action, ...]:
    """The actions, performed while keys are held down."""
    down = [Action(type=ActionType.KEY_DOWN, keys=(key,)) for key in keys]
    up = [Action(type=ActionType.KEY_UP, keys=(key,)) for key in reversed(keys)]
    return (*down, *actions, *up)
