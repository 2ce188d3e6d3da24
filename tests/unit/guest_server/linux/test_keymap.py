import pytest

from guest_server.linux.keymap import LSGT_KEYCODE, Keymap, Stroke, char_keysym, chunks

A, LESS, COMMA, PRINT, MUTE = 0x61, 0x3C, 0x2C, 0xFF61, 0x1008FF12
MODIFIER = 50


def keymap() -> Keymap:
    """Codes from 8: one free, `a`, comma, Print, then five in a row that can be spared; at 94 the LSGT key."""
    rows: list[list[int]] = [[0xFFE1 + code, 0] for code in range(8, LSGT_KEYCODE + 1)]
    rows[8 - 8] = [0, 0]
    rows[9 - 8] = [A, 0x41]
    rows[10 - 8] = [COMMA, LESS]
    rows[11 - 8] = [PRINT, 0]
    rows[20 - 8] = []
    rows[21 - 8] = [MUTE, 0]
    rows[22 - 8] = [PRINT, 0]
    rows[23 - 8] = [0, A]
    rows[MODIFIER - 8] = []
    rows[LSGT_KEYCODE - 8] = [LESS, 0x3E]
    return Keymap(8, rows, modifiers=[MODIFIER])


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

    def test_unmapped_symbol_is_not_found(self) -> None:
        assert keymap().find(0x01004E2D) is None


class TestSpares:
    def test_the_longest_run_of_free_vendor_and_double_keys(self) -> None:
        assert keymap().spares == [20, 21, 22, 23]

    def test_a_spare_vendor_key_has_no_symbol_of_its_own(self) -> None:
        assert keymap().find(MUTE) is None

    def test_digits_of_the_number_pad_depend_on_num_lock_and_need_a_key_of_their_own(self) -> None:
        map_ = Keymap(8, [[0xFF9E, 0xFFB0], []], modifiers=[])
        assert map_.find(0xFF9E) == Stroke(8)
        assert map_.find(0xFFB0) is None

    def test_a_double_key_leaves_its_symbol_to_the_other(self) -> None:
        assert keymap().find(PRINT) == Stroke(11)


class TestBind:
    def test_new_symbols_get_different_keys(self) -> None:
        map_ = keymap()
        assert map_.bind([0xE9, 0xE8, 0xE9, A]) == ([(20, 0xE9), (21, 0xE8)], False)
        assert map_.find(0xE9) == Stroke(20)

    def test_a_bound_one_is_not_bound_again(self) -> None:
        map_ = keymap()
        map_.bind([0xE9])
        assert map_.bind([0xE9]) == ([], False)

    def test_least_recently_used_key_is_rebound_and_reported(self) -> None:
        map_ = keymap()
        map_.bind([1001, 1002, 1003, 1004])
        map_.bind([1001])
        assert map_.bind([1005]) == ([(21, 1005)], True)
        assert map_.find(1002) is None
        assert map_.find(1001) == Stroke(20)

    def test_bindings_in_use_are_never_replaced(self) -> None:
        map_ = keymap()
        map_.bind([1001, 1002, 1003, 1004])
        map_.bind([1005, 1001, 1006, 1007])
        assert all(map_.find(keysym) for keysym in (1001, 1005, 1006, 1007))


class TestChunks:
    def test_pieces_need_no_more_keys_than_there_are(self) -> None:
        keysyms = [1001, A, 1002, 1003, 1001, 1004, 1005, A, 1006]
        pieces = chunks(keymap(), keysyms)
        assert [list(piece) for piece in pieces] == [[1001, A, 1002, 1003, 1001, 1004], [1005, A, 1006]]

    def test_no_text_no_pieces(self) -> None:
        assert chunks(keymap(), []) == []
