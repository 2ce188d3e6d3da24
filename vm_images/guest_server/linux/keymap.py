"""Keymap: which key has which symbol, and which spare keys can be remapped. Pure: no X connection.

X11 key events carry key codes only; a program looks the symbol up when it handles the event. A symbol missing in the
layout is bound to a spare key code, and a code may be rebound only after every program has handled the events with the
old symbol.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_VENDOR_KEYSYMS = range(0x10080000, 0x10090000)
_LEVELS = 2  # Plain and with shift; the others need modifiers that differ between layouts.
# Its digits: on one key with arrows, chosen by Num Lock, and programs take shift with them for a selection.
_NUMBER_PAD = range(0xFFAA, 0xFFBA)
LSGT_KEYCODE = 94
"""The key between left shift and Z. Layout `us` has `<` on it, where programs that look for the key of `<` and then
hold shift (pyautogui) would get `>`."""


@dataclass(frozen=True)
class Stroke:
    """A key code, with or without shift."""

    keycode: int
    shift: bool = False


def char_keysym(char: str) -> int:
    """Key symbol of a character: Latin-1 unchanged, others in X11's Unicode range."""
    code = ord(char)
    return code if 0x20 <= code <= 0x7E or 0xA0 <= code <= 0xFF else 0x01000000 | code  # noqa: PLR2004


class Keymap:
    """The symbols of a keyboard mapping and its spare keys.

    Attributes:
        spares: contiguous key codes. Every change makes all programs reload the mapping, the window manager slowest,
            and one request can change one contiguous range.

    Args:
        first: the key code of the first row.
        rows: key symbols by key code, plain and shifted first.
        modifiers: key codes that are modifiers and never spare.
    """

    def __init__(self, first: int, rows: Sequence[Sequence[int]], modifiers: Iterable[int]) -> None:
        self._strokes: dict[int, Stroke] = {}
        # Least recently used first. Bound to the keys there are, and the guest server imports nothing of ours.
        self._bound: OrderedDict[int, int] = OrderedDict()
        self._add_strokes(first, rows)
        modifier_keys = set(modifiers)
        self.spares = _longest_run(
            keycode
            for keycode, row in enumerate(rows, first)
            if keycode not in {*modifier_keys, LSGT_KEYCODE} and self._can_be_spared(keycode, row)
        )
        self._strokes = {key: stroke for key, stroke in self._strokes.items() if stroke.keycode not in self.spares}

    def _add_strokes(self, first: int, rows: Sequence[Sequence[int]]) -> None:
        for level in range(_LEVELS):
            for keycode, row in enumerate(rows, first):
                if keycode == LSGT_KEYCODE or len(row) <= level or not row[level]:
                    continue
                if not (level and row[level] in _NUMBER_PAD):
                    self._strokes.setdefault(row[level], Stroke(keycode, shift=bool(level)))

    def _can_be_spared(self, keycode: int, row: Sequence[int]) -> bool:
        """A key without symbols, with vendor symbols only, or with those of another key."""
        return all(
            keysym in _VENDOR_KEYSYMS or self._strokes.get(keysym, Stroke(keycode)).keycode != keycode
            for keysym in row[:_LEVELS]
            if keysym
        )

    def find(self, keysym: int) -> Stroke | None:
        """How to press a symbol now."""
        if keysym in self._bound:
            return Stroke(self._bound[keysym])
        return self._strokes.get(keysym)

    def fits(self, keysyms: Iterable[int]) -> bool:
        """True if there are enough spare keys for all these symbols at the same time."""
        return sum(keysym not in self._strokes for keysym in set(keysyms)) <= len(self.spares)

    def bind(self, keysyms: Iterable[int]) -> tuple[list[tuple[int, int]], bool]:
        """Binds every symbol to a key.

        Returns:
            (key code, symbol) pairs for the X server, and whether one of them was bound before.
        """
        missing = [keysym for keysym in dict.fromkeys(keysyms) if keysym not in self._strokes]
        for keysym in missing:
            if keysym in self._bound:
                self._bound.move_to_end(keysym)
        pairs, reused = [], False
        for keysym in missing:
            if keysym in self._bound:
                continue
            if len(self._bound) < len(self.spares):
                keycode = self.spares[len(self._bound)]
            else:
                oldest = next(iter(self._bound))
                keycode, reused = self._bound.pop(oldest), True
            self._bound[keysym] = keycode
            pairs.append((keycode, keysym))
        return pairs, reused


def _longest_run(keycodes: Iterable[int]) -> list[int]:
    runs: list[list[int]] = [[]]
    for keycode in keycodes:
        if runs[-1] and keycode != runs[-1][-1] + 1:
            runs.append([])
        runs[-1].append(keycode)
    return max(runs, key=len)


def chunks(keymap: Keymap, keysyms: Sequence[int]) -> list[Sequence[int]]:
    """Splits a text's symbols into pieces for which the spare keys suffice."""
    pieces: list[Sequence[int]] = []
    start, symbols = 0, set[int]()
    for index, keysym in enumerate(keysyms):
        if keysym not in symbols and not keymap.fits(symbols | {keysym}):
            pieces.append(keysyms[start:index])
            start, symbols = index, set()
        symbols.add(keysym)
    if start < len(keysyms):
        pieces.append(keysyms[start:])
    return pieces
