"""Key codes and modifiers become texts and key names, as the layout has them."""

import struct

import pytest

from guest_server.linux.key_symbols import (
    ALT,
    CONTROL,
    LEVEL3,
    LOCK,
    NUM,
    SHIFT,
    SUPER,
    KeymapChange,
    Symbols,
    TypedKey,
    character,
    parse_keymap_change,
)

GROUP_2 = 1 << 13
ROWS = [
    [ord("a"), ord("A"), 0x6C6, 0x6E6],  # 10: Latin and Cyrillic
    [ord("2"), ord('"'), 0, 0, 0xB2, 0],  # 11: third level
    [0xFF0D, 0],  # 12: Return
    [0xFF95, 0xFFB7],  # 13: KP_Home, KP_7
    [0xFFE1, 0],  # 14: Shift
    [0x010020AC, 0x010020AC],  # 15: the euro on a spare key
    [0xFF09, 0xFE20],  # 16: Tab, ISO_Left_Tab
    [],  # 17
    [0xFFBE, 0],  # 18: F1
]


NAMES = {0xFF0D: "enter", 0xFF09: "tab", 0xFFBE: "f1"}


@pytest.fixture
def symbols() -> Symbols:
    return Symbols(10, ROWS, NAMES)


class TestPressed:
    @pytest.mark.parametrize(
        ("keycode", "state", "text"),
        [
            (10, 0, "a"), (10, SHIFT, "A"), (10, LOCK, "A"), (10, LOCK | SHIFT, "A"), (10, GROUP_2, "ф"),
            (10, GROUP_2 | SHIFT, "Ф"), (11, SHIFT, '"'), (11, LEVEL3, "²"), (11, LOCK, "2"), (13, NUM, "7"),
            (13, SHIFT, "7"), (15, 0, "€"),
        ],
    )  # fmt: skip
    def test_pressed_keys_become_text(self, symbols: Symbols, keycode: int, state: int, text: str) -> None:
        assert symbols.pressed(keycode, state) == TypedKey(text=text)

    @pytest.mark.parametrize(
        ("keycode", "state", "name", "held"),
        [
            (12, 0, "enter", ()), (13, 0, "home", ()), (13, NUM | SHIFT, "home", ("shift",)), (18, ALT, "f1", ("alt",)),
            (10, CONTROL, "a", ("ctrl",)), (10, CONTROL | SHIFT, "a", ("ctrl", "shift")), (10, SUPER, "a", ("win",)),
            (10, CONTROL | LOCK, "a", ("ctrl",)), (16, 0, "tab", ()), (16, SHIFT, "tab", ("shift",)),
        ],
    )  # fmt: skip
    def test_keys_that_type_nothing(
        self, symbols: Symbols, keycode: int, state: int, name: str, held: tuple[str, ...]
    ) -> None:
        assert symbols.pressed(keycode, state) == TypedKey(name=name, modifiers=frozenset(held))

    @pytest.mark.parametrize("keycode", [14, 17, 200])
    def test_modifiers_and_keys_without_a_symbol_are_nothing(self, symbols: Symbols, keycode: int) -> None:
        assert symbols.pressed(keycode, 0) == TypedKey()

    def test_a_change_of_the_layout_counts_from_then_on(self, symbols: Symbols) -> None:
        symbols.change(KeymapChange(15, ((0x01004E2D, 0x01004E2D),)))
        assert symbols.pressed(15, 0).text == "中"


class TestCharacter:
    @pytest.mark.parametrize(
        ("symbol", "text"),
        [(0x41, "A"), (0xE9, "é"), (0x20AC, "€"), (0x1B1, "ą"), (0x0101F600, "😀"), (0xFF0D, ""), (0x0100D800, "")],
    )
    def test_key_symbols_become_characters(self, symbol: int, text: str) -> None:
        assert character(symbol) == text


def test_a_change_of_the_keyboard_mapping_is_read() -> None:
    data = struct.pack("=BBHBBH4I", 100, 2, 6, 200, 2, 0, 0x41, 0x42, 0x43, 0x44)
    assert parse_keymap_change(data) == KeymapChange(200, ((0x41, 0x42), (0x43, 0x44)))
