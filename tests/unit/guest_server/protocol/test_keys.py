import string

import pytest

from guest_server.protocol.errors import GuestError
from guest_server.protocol.keys import KEYBOARD_KEYS, KEYSYMS, WITHOUT_KEY, XF86_SYMBOLS, key_name


class TestNames:
    def test_key_names_are_those_of_pyautogui(self) -> None:
        """194 entries in pyautogui 0.9.54, none twice."""
        assert len(KEYBOARD_KEYS) == 194

    def test_every_printable_character_of_ascii_is_there_but_capitals(self) -> None:
        printable = set(string.printable) - set(string.ascii_uppercase) - set("\x0b\x0c")
        assert printable <= KEYBOARD_KEYS

    def test_every_vendor_symbol_that_is_named_has_a_value(self) -> None:
        assert {symbol for symbol in KEYSYMS.values() if symbol.startswith("XF86")} == set(XF86_SYMBOLS)


class TestKeyName:
    @pytest.mark.parametrize(
        ("given", "name"), [("Ctrl", "ctrl"), (" ENTER ", "enter"), ("A", "A"), (" ", " "), ("中", "中")]
    )
    def test_long_names_in_any_case_characters_as_they_are(self, given: str, name: str) -> None:
        assert key_name(given) == name

    @pytest.mark.parametrize("given", ["", "control", "\x07", *sorted(WITHOUT_KEY)])
    def test_no_such_key(self, given: str) -> None:
        with pytest.raises(GuestError) as caught:
            key_name(given)
        assert caught.value.kind == "unknown_key"
