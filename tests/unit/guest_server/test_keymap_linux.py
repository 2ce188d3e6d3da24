import pytest

from guest_server.keymap_linux import LSGT_KEYCODE, Keymap, Stroke, char_keysym, chunks

A, B, LESS, COMMA, MUTE = 0x61, 0x62, 0x3C, 0x2C, 0x1008FF12
SHIFT_CODE = 50


def keymap() -> Keymap:
    """Codes from 8: one free, `a`, comma, shift, a vendor key, a kept vendor key, one free; and the LSGT key."""
    rows: list[list[int]] = [[] for _ in range(8, LSGT_KEYCODE + 1)]
    for code in range(15, LSGT_KEYCODE):
        rows[code - 8] = [0xFFE1 if code == SHIFT_CODE else 0xFF0D]
    rows[9 - 8] = [A, 0x41]
    rows[10 - 8] = [COMMA, LESS]
    rows[11 - 8] = [0x1008FF99]
    rows[12 - 8] = [MUTE]
    rows[13 - 8] = [0, 0]
    rows[14 - 8] = []
    rows[LSGT_KEYCODE - 8] = [LESS, 0x3E]
    return Keymap(8, rows, modifiers=[SHIFT_CODE, 14], keep=[MUTE])


class TestCharKeysym:
    @pytest.mark.parametrize(
        ("char", "keysym"), [("a", 0x61), ("é", 0xE9), ("中", 0x01004E2D), ("😀", 0x0101F600), ("\x80", 0x01000080)]
    )
    def test_latin_1_as_it_is_others_in_the_unicode_range(self, char: str, keysym: int) -> None:
        assert char_keysym(char) == keysym


class TestFind:
    def test_plain_and_shifted(self) -> None:
        assert keymap().find(A) == Stroke(9)
        assert keymap().find(0x41) == Stroke(9, shift=True)

    def test_less_is_taken_from_the_comma_key(self) -> None:
        assert keymap().find(LESS) == Stroke(10, shift=True)

    def test_unknown(self) -> None:
        assert keymap().find(0x01004E2D) is None


class TestSpares:
    def test_free_keys_first_then_vendor_keys_never_modifiers_or_kept_ones(self) -> None:
        assert keymap().spares == [8, 13, LSGT_KEYCODE, 11]


class TestBind:
    def test_new_symbols_get_different_keys(self) -> None:
        map_ = keymap()
        assert map_.bind([0xE9, 0xE8, 0xE9, A]) == ([(8, 0xE9), (13, 0xE8)], False)
        assert map_.find(0xE9) == Stroke(8)

    def test_a_bound_one_is_not_bound_again(self) -> None:
        map_ = keymap()
        map_.bind([0xE9])
        assert map_.bind([0xE9]) == ([], False)

    def test_the_least_recently_used_key_is_taken_and_that_is_said(self) -> None:
        map_ = keymap()
        map_.bind([1001, 1002, 1003, 1004])
        map_.bind([1001])
        assert map_.bind([1005]) == ([(13, 1005)], True)
        assert map_.find(1002) is None
        assert map_.find(1001) == Stroke(8)

    def test_what_is_needed_now_is_never_given_away(self) -> None:
        map_ = keymap()
        map_.bind([1001, 1002, 1003, 1004])
        map_.bind([1005, 1001, 1006, 1007])
        assert all(map_.find(keysym) for keysym in (1001, 1005, 1006, 1007))

    def test_a_vendor_key_loses_its_own_symbol(self) -> None:
        map_ = keymap()
        map_.bind([1001, 1002, 1003, 1004])
        assert map_.find(0x1008FF99) is None


class TestChunks:
    def test_pieces_need_no_more_keys_than_there_are(self) -> None:
        keysyms = [1001, A, 1002, 1003, 1001, 1004, 1005, A, 1006]
        pieces = chunks(keymap(), keysyms)
        assert [list(piece) for piece in pieces] == [[1001, A, 1002, 1003, 1001, 1004], [1005, A, 1006]]

    def test_no_text_no_pieces(self) -> None:
        assert chunks(keymap(), []) == []
