"""Meaning of a key press on X11: typed text, or the key's name. Pure: no X connection.

X11's keyboard mapping has a row of symbols per key code: first group plain and with shift, second group likewise, then
both for the third level (AltGr).
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

SHIFT, LOCK, CONTROL, ALT, NUM, SUPER, LEVEL3 = 1, 2, 4, 8, 16, 64, 128
_MAPPING = struct.Struct("=BBHBBH")
_GROUP_SHIFT = 13
_UNICODE = 0x01000000
_KEYPAD = MappingProxyType(
    {0xFFAA: "*", 0xFFAB: "+", 0xFFAC: ",", 0xFFAD: "-", 0xFFAE: ".", 0xFFAF: "/", 0xFFBD: "=", 0xFF80: " "}
    | {0xFFB0 + digit: str(digit) for digit in range(10)}
)
_SETS = MappingProxyType({1: "iso8859_2", 2: "iso8859_3", 3: "iso8859_4", 6: "koi8_r", 0x13: "iso8859_15"})
"""Legacy symbols by their second byte: the first byte is the character in that code page."""
_CURRENCY = 0x20
_MODIFIER_SYMBOLS = frozenset({*range(0xFFE1, 0xFFEF), 0xFF7E, 0xFF7F, 0xFE03, 0xFE11, 0xFE08, 0xFE0A, 0xFF20})
_NAMES = MappingProxyType(
    {0xFE20: "tab", 0xFF8D: "enter", 0xFF95: "home", 0xFF96: "left", 0xFF97: "up", 0xFF98: "right", 0xFF99: "down"}
    | {0xFF9A: "pageup", 0xFF9B: "pagedown", 0xFF9C: "end", 0xFF9D: "clear", 0xFF9E: "insert", 0xFF9F: "delete"}
)
"""Symbols that are not those of a key's own name: of the number pad, and of Tab with shift."""
_MODIFIERS = ((CONTROL, "ctrl"), (ALT, "alt"), (SUPER, "win"), (SHIFT, "shift"))


@dataclass(frozen=True)
class KeymapChange:
    """Key codes from `first` on now have these symbols."""

    first: int
    rows: tuple[tuple[int, ...], ...]


def parse_keymap_change(data: bytes) -> KeymapChange:
    """Parses a ChangeKeyboardMapping request of X11's core protocol."""
    _, count, _, first, width, _ = _MAPPING.unpack_from(data)
    symbols = struct.unpack_from(f"={count * width}I", data, _MAPPING.size)
    return KeymapChange(first, tuple(tuple(symbols[row * width : (row + 1) * width]) for row in range(count)))


@dataclass(frozen=True)
class TypedKey:
    """Meaning of a key press: `text` that it types, or the `name` of a key that types none. Both empty: nothing.

    Attributes:
        modifiers: modifiers that were held with a key that types nothing.
    """

    text: str = ""
    name: str = ""
    modifiers: frozenset[str] = frozenset()


class Symbols:
    """The keyboard mapping, updated by recorded requests.

    Args:
        first: the key code of the first row.
        rows: symbols by key code.
        names: of keys that type nothing, by their symbol.
    """

    def __init__(self, first: int, rows: Sequence[Sequence[int]], names: Mapping[int, str]) -> None:
        self._names = {**_NAMES, **names}
        self._rows = {keycode: list(row) for keycode, row in enumerate(rows, first)}

    def change(self, change: KeymapChange) -> None:
        """Applies a change of key codes' symbols."""
        self._rows |= {keycode: list(row) for keycode, row in enumerate(change.rows, change.first)}

    def pressed(self, keycode: int, state: int) -> TypedKey:
        """Meaning of a press.

        Args:
            keycode: of the key.
            state: the modifiers that were held before it, as in X11's events.
        """
        modifiers = frozenset(name for bit, name in _MODIFIERS if state & bit)
        symbol = self._symbol(keycode, state)
        if not symbol or symbol in _MODIFIER_SYMBOLS:
            return TypedKey()
        text = character(symbol)
        if text and not modifiers - {"shift"}:
            return TypedKey(text=text.upper() if state & LOCK and not state & SHIFT and text.isalpha() else text)
        if text:
            plain = character(self._symbol(keycode, state & ~(SHIFT | LOCK))) or text
            return TypedKey(name="space" if plain == " " else plain.lower(), modifiers=modifiers)
        return TypedKey(name=self._names.get(symbol, f"key {symbol:#x}"), modifiers=modifiers)

    def _symbol(self, keycode: int, state: int) -> int:
        row = self._rows.get(keycode) or [0]
        group = (state >> _GROUP_SHIFT) & 1
        start = 4 if state & LEVEL3 else 2 * group
        pair = row[start : start + 2] or row[:2]
        if not any(pair):
            pair = row[:2]
        plain, shifted = pair[0], (pair[1] if len(pair) > 1 and pair[1] else pair[0])
        if shifted in _KEYPAD and plain not in _KEYPAD:  # Num Lock and shift cancel each other there.
            return shifted if bool(state & NUM) != bool(state & SHIFT) else plain
        return shifted if state & SHIFT else plain


def character(symbol: int) -> str:
    """The character that a symbol types, empty if none."""
    low, page = symbol & 0xFF, symbol >> 8
    if symbol in _KEYPAD:
        return _KEYPAD[symbol]
    if symbol & 0xFF000000 == _UNICODE:
        code = symbol & 0xFFFFFF
        return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else ""  # noqa: PLR2004 - Unicode's bounds
    if page == 0:
        return chr(low) if 0x20 <= low <= 0x7E or low >= 0xA0 else ""  # noqa: PLR2004 - Latin-1 without controls
    if page == _CURRENCY:
        return chr(symbol)
    if page in _SETS:
        return bytes([low]).decode(_SETS[page], "ignore")
    return ""
