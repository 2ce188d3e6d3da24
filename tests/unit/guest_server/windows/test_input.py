"""Keys and coordinates in SendInput's form."""

import pytest

from guest_server.protocol.keys import KEYBOARD_KEYS, KEYSYMS, WITHOUT_KEY
from guest_server.windows.virtual_keys import ALT, CONTROL, SHIFT, VIRTUAL_KEYS, absolute, is_extended, stroke, utf16


class TestVirtualKeys:
    # There is no such key on a PC's keyboard; the layout gives the character.
    BY_LAYOUT = frozenset({"yen"})

    def test_every_name_of_pyautogui_has_a_key(self) -> None:
        names = {name for name in KEYBOARD_KEYS if len(name) > 1} - WITHOUT_KEY - self.BY_LAYOUT
        assert names - set(VIRTUAL_KEYS) == set()

    def test_no_key_has_a_name_that_linux_lacks(self) -> None:
        assert set(VIRTUAL_KEYS) - set(KEYSYMS) - {"\b"} == set()

    def test_the_arrows_are_not_those_of_the_number_pad(self) -> None:
        assert all(is_extended(VIRTUAL_KEYS[name]) for name in ("left", "delete", "ctrlright", "win", "divide", "apps"))
        assert not any(is_extended(VIRTUAL_KEYS[name]) for name in ("enter", "num5", "shift", "ctrl", "f1"))


class TestStroke:
    def test_a_character_with_its_modifiers(self) -> None:
        assert stroke(0x0041) == (0x41, ())
        assert stroke(0x0141) == (0x41, (SHIFT,))
        assert stroke(0x0651) == (0x51, (CONTROL, ALT))

    @pytest.mark.parametrize("scanned", [-1, 0xFFFF])
    def test_none_for_a_character_without_a_key(self, scanned: int) -> None:
        assert stroke(scanned) is None


class TestUtf16:
    def test_characters_beyond_the_first_plane_are_two_units(self) -> None:
        assert utf16("a😀") == [0x61, 0xD83D, 0xDE00]


class TestAbsolute:
    @pytest.mark.parametrize("size", [800, 1080, 1280, 1920, 3840, 5120])
    def test_every_pixel_is_met(self, size: int) -> None:
        assert [absolute(place, size) * size // 65_536 for place in range(size)] == list(range(size))

    def test_the_edge_is_the_last_pixel(self) -> None:
        assert absolute(1920, 1920) == absolute(1919, 1920)
