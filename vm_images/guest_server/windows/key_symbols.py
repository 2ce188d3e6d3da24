"""Meaning of a key press on Windows: its text or its name. Pure: calls nothing of the system."""

from collections.abc import Collection
from types import MappingProxyType

from guest_server.linux.key_symbols import TypedKey

PACKET = 0xE7
"""Virtual key of a character sent by a program; the scan code is its UTF-16 unit."""
MODIFIER_KEYS = MappingProxyType(
    {0x10: "shift", 0xA0: "shift", 0xA1: "shift", 0x11: "ctrl", 0xA2: "ctrl", 0xA3: "ctrl", 0x12: "alt"}
    | {0xA4: "alt", 0xA5: "alt", 0x5B: "win", 0x5C: "win"}
)
"""Virtual keys of modifiers, left, right or either, with their modifier."""
_LOCKS = frozenset({0x14, 0x90, 0x91})
_NAMES = MappingProxyType(
    {0x08: "backspace", 0x09: "tab", 0x0D: "enter", 0x13: "pause", 0x1B: "esc", 0x20: "space", 0x21: "pageup"}
    | {0x22: "pagedown", 0x23: "end", 0x24: "home", 0x25: "left", 0x26: "up", 0x27: "right", 0x28: "down"}
    | {0x2C: "printscreen", 0x2D: "insert", 0x2E: "delete", 0x2F: "help", 0x5D: "apps", 0xAD: "volumemute"}
    | {0xAE: "volumedown", 0xAF: "volumeup", 0xB0: "nexttrack", 0xB1: "prevtrack", 0xB2: "stop", 0xB3: "playpause"}
    | {0x70 + number: f"f{number + 1}" for number in range(24)}
)


def pressed(key: int, text: str, modifiers: Collection[str]) -> TypedKey:
    """Text or name of a press.

    Args:
        key: virtual key code.
        text: its text in the layout with the modifiers held (`ToUnicodeEx`), may be empty.
        modifiers: modifiers held.
    """
    if key in MODIFIER_KEYS or key in _LOCKS or (key == PACKET and not text):
        return TypedKey()
    # AltGr is Ctrl and Alt together; text typed with them is text.
    types = (
        text.isprintable() and text != "" and not ({"ctrl", "alt", "win"} & set(modifiers) - _alt_gr(text, modifiers))
    )
    if types:
        return TypedKey(text=text)
    name = _NAMES.get(key) or _letter(key) or f"key {key:#x}"
    return TypedKey(name=name, modifiers=frozenset(modifiers))


def _alt_gr(text: str, modifiers: Collection[str]) -> set[str]:
    both = {"ctrl", "alt"}
    return both if both <= set(modifiers) and text.isprintable() else set()


def _letter(key: int) -> str:
    """Letters and digits have their own codes as virtual keys."""
    return chr(key).lower() if 0x30 <= key <= 0x39 or 0x41 <= key <= 0x5A else ""  # noqa: PLR2004 - 0 to 9, A to Z
