"""Windows' virtual keys for pyautogui's key names. Pure: calls nothing of the system."""

from collections.abc import Mapping
from types import MappingProxyType

_NAMED = """
backspace 08, tab 09, clear 0C, enter 0D, return 0D, shift A0, shiftleft A0, shiftright A1, ctrl A2, ctrlleft A2,
ctrlright A3, alt A4, altleft A4, altright A5, option A4, optionleft A4, optionright A5, pause 13, capslock 14,
kana 15, hanguel 15, hangul 15, junja 17, hanja 19, kanji 19, esc 1B, escape 1B, convert 1C, nonconvert 1D,
modechange 1F, space 20, pageup 21, pgup 21, pagedown 22, pgdn 22, end 23, home 24, left 25, up 26, right 27, down 28,
select 29, print 2A, execute 2B, printscreen 2C, prntscrn 2C, prtsc 2C, prtscr 2C, insert 2D, del 2E, delete 2E,
help 2F, win 5B, winleft 5B, winright 5C, command 5B, apps 5D, sleep 5F, multiply 6A, add 6B, separator 6C,
subtract 6D, decimal 6E, divide 6F, numlock 90, scrolllock 91, browserback A6, browserforward A7, browserrefresh A8,
browserstop A9, browsersearch AA, browserfavorites AB, browserhome AC, volumemute AD, volumedown AE, volumeup AF,
nexttrack B0, prevtrack B1, stop B2, playpause B3, launchmail B4, launchmediaselect B5, launchapp1 B6, launchapp2 B7
"""

VIRTUAL_KEYS: Mapping[str, int] = MappingProxyType(
    {
        "\t": 0x09,
        "\n": 0x0D,
        "\r": 0x0D,
        "\b": 0x08,
        " ": 0x20,
        **{name: int(code, 16) for name, code in (pair.split() for pair in _NAMED.replace("\n", " ").split(","))},
        **{f"f{number}": 0x6F + number for number in range(1, 25)},
        **{f"num{digit}": 0x60 + digit for digit in range(10)},
    }
)
"""Key name -> virtual key. Characters depend on the keyboard layout."""

_EXTENDED = frozenset(
    {*range(0x21, 0x29), 0x2C, 0x2D, 0x2E, 0x5B, 0x5C, 0x5D, 0x6F, 0x90, 0xA3, 0xA5, *range(0xA6, 0xB8)}
)

SHIFT, CONTROL, ALT = 0xA0, 0xA2, 0xA4
_SHIFT_BITS = ((1, SHIFT), (2, CONTROL), (4, ALT))


def is_extended(key: int) -> bool:
    """Extended keys: arrows beside the number pad, the right Ctrl and Alt."""
    return key in _EXTENDED


def stroke(scanned: int) -> tuple[int, tuple[int, ...]] | None:
    """A virtual key and its modifiers, from the result of `VkKeyScanExW` for a character.

    Returns:
        None if the layout has no key for it.
    """
    if scanned in {-1, 0xFFFF}:
        return None
    bits = scanned >> 8 & 0xFF
    return scanned & 0xFF, tuple(key for bit, key in _SHIFT_BITS if bits & bit)


def utf16(text: str) -> list[int]:
    """The text's UTF-16 units: characters beyond the first 65,536 are two."""
    data = text.encode("utf-16-le")
    return [int.from_bytes(data[index : index + 2], "little") for index in range(0, len(data), 2)]


def absolute(pixel: int, size: int) -> int:
    """A coordinate in SendInput's 65,536 steps per screen, at the middle of the pixel."""
    return ((2 * min(pixel, size - 1) + 1) * 65_536) // (2 * size)
