"""Texts typed in one go, from a log of interactions."""

import pytest

from backend.domain.formats.typed import expand_keys, join_typing


def log(*texts: str) -> list[dict[str, object]]:
    return [{"number": number, "text": text} for number, text in enumerate(texts, start=1)]


class TestJoined:
    def test_texts_of_two_looks_are_one(self) -> None:
        assert join_typing(log("hello ", "world"), ()) == (["hello world"], [])

    def test_return_tab_and_backspace_are_part_of_a_text(self) -> None:
        texts, keys = join_typing(log("ab", "{backspace}", "c", "{enter}", "d", "{tab}", "e"), ())
        assert texts == ["ac\nd\te"]
        assert keys == ["{backspace}", "{enter}", "{tab}"]

    def test_other_keys_end_a_text(self) -> None:
        assert join_typing(log("ab", "{left}", "c"), ()) == (["ab", "c"], ["{left}"])

    def test_a_click_ends_a_text(self) -> None:
        typed = [{"number": 1, "text": "ab"}, {"number": 3, "text": "cd"}]
        assert join_typing(typed, {2})[0] == ["ab", "cd"]
        assert join_typing(typed, {4})[0] == ["abcd"]

    def test_a_brace_that_was_typed_is_text(self) -> None:
        assert join_typing(log("{", "a b}"), ()) == (["{a b}"], [])


class TestExpanded:
    @pytest.mark.parametrize(
        ("text", "found"), [("a{enter}b", "a\nb"), ("{Ctrl+S}", "{ctrl+s}"), ("{enter}", "{enter}"), ("a\r\nb", "a\nb")]
    )
    def test_keys_in_a_text(self, text: str, found: str) -> None:
        assert expand_keys(text) == found
