import csv
import io
import sys
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from backend.domain.formats.foreign_text import VisibleStream, cell, visible

ESCAPES: Sequence[tuple[str, str]] = (
    ("\x1b[2J", "\\x1b[2J"),
    ("a\x00b\x7f\x9b", "a\\x00b\\x7f\\x9b"),
    ("back\rover", "back\\x0dover"),
    ("\u202egnp.exe", "\\u202egnp.exe"),
    ("\ud800\ufffe", "\\ud800\\ufffe"),
)
KEPT = "tab\tline\nline\r\n naïve 中文 😀 \\x1b"


class TestVisible:
    @pytest.mark.parametrize(("text", "escaped"), ESCAPES)
    def test_unfit_characters_are_escapes(self, text: str, escaped: str) -> None:
        assert visible(text) == escaped

    def test_everything_else_stays(self) -> None:
        assert visible(KEPT) == KEPT

    @given(st.text(st.characters()))
    def test_fits_into_xml_and_is_fit_already(self, text: str) -> None:
        element = etree.Element("a")
        element.text = visible(text)
        assert etree.fromstring(etree.tostring(element)).tag == "a"
        assert visible(visible(text)) == visible(text)


class TestCell:
    @pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@sum", "\t=1"])
    def test_is_no_formula(self, text: str) -> None:
        assert cell(text) == f"'{text}"

    @pytest.mark.parametrize("value", [-1, 2.5, None, True])
    def test_numbers_stay(self, value: object) -> None:
        assert cell(value) == value

    @given(st.text(st.characters(exclude_characters="\r\n")))
    def test_is_read_again(self, text: str) -> None:
        out = io.StringIO()
        csv.writer(out).writerow([cell(text), "next"])
        assert list(csv.reader(io.StringIO(out.getvalue()))) == [[cell(text), "next"]]


class TestStream:
    def test_shows_what_is_printed(self) -> None:
        out = io.StringIO()
        print("red \x1b[31m", file=VisibleStream(out))
        assert out.getvalue() == "red \\x1b[31m\n"

    def test_is_the_stream_for_everything_else(self) -> None:
        assert VisibleStream(sys.__stdout__ or io.StringIO()).writable()
