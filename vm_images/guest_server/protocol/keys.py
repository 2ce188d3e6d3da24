"""Key names as pyautogui gives them, and the X11 key symbol behind each.

The names are those of pyautogui 0.9's KEYBOARD_KEYS. Where pyautogui silently does nothing on Linux (volume, browser
and language keys), X11's key is pressed; names without a key on X11 are refused.
"""

import os
import string
from collections.abc import Mapping
from types import MappingProxyType

from guest_server.protocol.errors import GuestError

_CHARACTERS = {char: char for char in string.ascii_lowercase + string.digits + string.punctuation}

_NAMED = """
tab Tab, enter Return, return Return, space space, backspace BackSpace, esc Escape, escape Escape,
shift Shift_L, shiftleft Shift_L, shiftright Shift_R, ctrl Control_L, ctrlleft Control_L, ctrlright Control_R,
alt Alt_L, altleft Alt_L, altright Alt_R, option Alt_L, optionleft Alt_L, optionright Alt_R,
win Super_L, winleft Super_L, winright Super_R, command Super_L, apps Menu, modechange Mode_switch,
capslock Caps_Lock, numlock Num_Lock, scrolllock Scroll_Lock,
up Up, down Down, left Left, right Right, home Home, end End,
pageup Prior, pgup Prior, pagedown Next, pgdn Next, insert Insert, del Delete, delete Delete,
print Print, printscreen Print, prntscrn Print, prtsc Print, prtscr Print, pause Pause,
help Help, clear Clear, select Select, execute Execute,
multiply KP_Multiply, add KP_Add, separator KP_Separator, subtract KP_Subtract, decimal KP_Decimal, divide KP_Divide,
convert Henkan_Mode, nonconvert Muhenkan, kana Kana_Lock, kanji Kanji, hanguel Hangul, hangul Hangul,
hanja Hangul_Hanja, junja Hangul_Jeonja, yen yen,
browserback XF86Back, browserforward XF86Forward, browserrefresh XF86Refresh, browserstop XF86Stop,
browsersearch XF86Search, browserfavorites XF86Favorites, browserhome XF86HomePage,
volumemute XF86AudioMute, volumedown XF86AudioLowerVolume, volumeup XF86AudioRaiseVolume,
nexttrack XF86AudioNext, prevtrack XF86AudioPrev, stop XF86AudioStop, playpause XF86AudioPlay,
launchmail XF86Mail, launchmediaselect XF86AudioMedia, launchapp1 XF86MyComputer, launchapp2 XF86Calculator,
sleep XF86Sleep
"""

KEYSYMS: Mapping[str, str] = MappingProxyType(
    {
        **_CHARACTERS,
        "\t": "Tab",
        "\n": "Return",
        "\r": "Return",
        " ": "space",
        **dict(pair.split() for pair in _NAMED.replace("\n", " ").split(",")),
        **{f"f{number}": f"F{number}" for number in range(1, 25)},
        **{f"num{digit}": f"KP_{digit}" for digit in range(10)},
    }
)
"""Key name -> X11 key symbol name (a single character stands for itself)."""

X11_KEYS: Mapping[str, str] = MappingProxyType(
    {"undo": "Undo", "redo": "Redo", "find": "Find", "cancel": "Cancel"} if os.name != "nt" else {}
)
"""Keys of X11 that pyautogui has no name for -> symbol name."""

WITHOUT_KEY = frozenset({"accept", "final", "fn"})
"""Names of pyautogui that X11 has no key for."""

KEYBOARD_KEYS = frozenset(KEYSYMS) | WITHOUT_KEY
"""All names in pyautogui's KEYBOARD_KEYS."""

XF86_SYMBOLS: Mapping[str, int] = MappingProxyType(
    {
        "XF86AudioLowerVolume": 0x1008FF11,
        "XF86AudioMute": 0x1008FF12,
        "XF86AudioRaiseVolume": 0x1008FF13,
        "XF86AudioPlay": 0x1008FF14,
        "XF86AudioStop": 0x1008FF15,
        "XF86AudioPrev": 0x1008FF16,
        "XF86AudioNext": 0x1008FF17,
        "XF86HomePage": 0x1008FF18,
        "XF86Mail": 0x1008FF19,
        "XF86Search": 0x1008FF1B,
        "XF86Calculator": 0x1008FF1D,
        "XF86Back": 0x1008FF26,
        "XF86Forward": 0x1008FF27,
        "XF86Stop": 0x1008FF28,
        "XF86Refresh": 0x1008FF29,
        "XF86Sleep": 0x1008FF2F,
        "XF86Favorites": 0x1008FF30,
        "XF86AudioMedia": 0x1008FF32,
        "XF86MyComputer": 0x1008FF33,
    }
)
"""Values of the vendor key symbols above (X.Org's XF86keysym.h), which python-xlib does not load by default."""


def key_name(text: str) -> str:
    """The key's canonical name: one character as it is, a longer name in lower case.

    Raises:
        GuestError: no such key.
    """
    name = text if len(text) == 1 else text.strip().lower()
    if name in WITHOUT_KEY:
        raise GuestError("unknown_key", f"the key '{name}' does not exist on this platform")
    if name in KEYSYMS or name in X11_KEYS or (len(name) == 1 and name.isprintable()):
        return name
    raise GuestError("unknown_key", f"unknown key '{text}'; use one of pyautogui's KEYBOARD_KEYS or one character")
