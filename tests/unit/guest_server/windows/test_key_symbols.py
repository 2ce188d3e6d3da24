"""Virtual keys of Windows become texts and key names."""

import pytest

from guest_server.linux.key_symbols import TypedKey
from guest_server.windows.key_symbols import PACKET, pressed


class TestPressed:
    @pytest.mark.parametrize(
        ("key", "text", "held", "typed"),
        [
            (0x41, "a", (), "a"),
            (0x41, "A", ("shift",), "A"),
            (0x51, "@", ("ctrl", "alt"), "@"),
            (PACKET, "世", (), "世"),
        ],
    )
    def test_pressed_keys_become_text(self, key: int, text: str, held: tuple[str, ...], typed: str) -> None:
        assert pressed(key, text, held) == TypedKey(text=typed)

    @pytest.mark.parametrize(
        ("key", "text", "held", "name"),
        [
            (0x0D, "\r", (), "enter"), (0x53, "\x13", ("ctrl",), "s"), (0x09, "\t", ("shift",), "tab"),
            (0x73, "", ("alt",), "f4"), (0x44, "d", ("win",), "d"), (0x31, "1", ("alt",), "1"),
            (0xFF, "", (), "key 0xff"),
        ],
    )  # fmt: skip
    def test_keys_that_type_nothing(self, key: int, text: str, held: tuple[str, ...], name: str) -> None:
        assert pressed(key, text, held) == TypedKey(name=name, modifiers=frozenset(held))

    @pytest.mark.parametrize("key", [0x10, 0xA3, 0x5B, 0x14])
    def test_modifiers_and_locks_are_nothing(self, key: int) -> None:
        assert pressed(key, "", ()) == TypedKey()
