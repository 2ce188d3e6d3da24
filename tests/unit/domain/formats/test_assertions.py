"""The small language of written assertions."""

from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.errors import Invalid
from backend.domain.formats.assertions import AssertionFact, parse
from tests.error_codes import raises_code


def holds(text: str, true: Collection[str]) -> bool:
    return parse(text).holds(lambda fact: fact.text in true)


def one(text: str) -> AssertionFact:
    (fact,) = parse(text).facts()
    return fact


class TestParse:
    def test_a_fact(self) -> None:
        assert one('file_contains("a.txt", "x y")') == AssertionFact("file_contains", ("a.txt", "x y"))

    def test_backslashes_doubled_or_not_are_one(self) -> None:
        assert one(r'file_exists("C:\\a\\b.txt")') == one(r'file_exists("C:\a\b.txt")')

    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ('folder_exists("d")', "file_exists"),
            ('image_dimensions("a.png") == (800, 600)', "image_size"),
            ('image_size_equals("a.png", 800, 600)', "image_size"),
        ],
    )
    def test_several_names_of_one_fact(self, text: str, name: str) -> None:
        assert one(text).name == name

    def test_a_pattern_is_seen(self) -> None:
        assert one(r'clipboard_contains("\\d+")').pattern
        assert one('file_contains_regex("a", "^x$")').pattern
        assert not one('clipboard_contains("7.2")').pattern

    def test_a_cell(self) -> None:
        assert one('file_contains("a.xlsx", "x", sheet="Sheet1", cell="A1")').where == ("Sheet1", "A1")

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ('email_sent_to("a@example.com")', "there is no check of 'email_sent_to'"),
            ("file_exists(name)", "takes literals"),
            ("file_exists(today())", "takes literals"),
            ('file_exists("a"', "expected"),
            ('file_exists("a") file_exists("b")', "follows the end of the assertion"),
            ("__import__('os').system('id')", "is not part"),
            ('file_exists("a", "b")', "does not take"),
            ("for each a in b: x", "is no"),
            ("(" * 50 + 'file_exists("a")' + ")" * 50, "nested"),
            ('file_contains_regex("a", "(")', "pattern"),
            ("", "too early"),
            ("x" * 5000, "at most"),
        ],
    )
    def test_anything_else_is_refused_by_name(self, text: str, said: str) -> None:
        with raises_code(Invalid, "invalid_assertion", mentions=said):
            parse(text)

    @given(st.text(max_size=200))
    def test_any_text_is_read_or_refused(self, text: str) -> None:
        try:
            parse(text)
        except Invalid:
            return


class TestHolds:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ('file_exists("a")', True),
            ('!file_exists("a")', False),
            ('file_exists("a") == false', False),
            ('file_exists("b") == false', True),
            ('file_exists("b") != true', True),
            ('file_exists("a") && file_exists("b")', False),
            ('file_exists("b") || file_exists("a")', True),
            ('NOT file_exists("b") OR (file_exists("b") AND NOT file_exists("a"))', True),
            ('file_exists("a") || file_exists("a") && file_exists("b")', True),
        ],
    )
    def test_joined(self, text: str, expected: bool) -> None:  # noqa: FBT001
        assert holds(text, {"a"}) is expected


class TestPassing:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ('window_active("Word")', True),
            ('file_exists("a")', False),
            ('window_active("Word") && file_exists("a")', True),
            ('!window_active("Word")', False),
            ('!(!window_active("Word"))', True),
        ],
    )
    def test_assertions_checked_at_each_step(self, text: str, expected: bool) -> None:  # noqa: FBT001
        assert parse(text).passing is expected
