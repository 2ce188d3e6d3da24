import csv
import io
import logging
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from xml.etree.ElementTree import Element, SubElement

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from backend.domain.formats.foreign_text import (
    VisibleLogRecord,
    VisibleStream,
    cell,
    csv_text,
    markdown,
    one_line,
    visible,
    xml_document,
)

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
    @pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@sum", "\t=1", "\n=1", "\uff1d1"])
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


class TestTable:
    def test_headers_and_cells_are_escaped(self) -> None:
        when = datetime(2026, 3, 1, tzinfo=UTC)
        assert csv_text(["=a", "b"], [["@x", 1], [None, when]]).splitlines() == [
            "'=a,b", "'@x,1", ",2026-03-01T00:00:00+00:00",
        ]  # fmt: skip


class TestDocument:
    @given(st.text(st.characters()))
    def test_is_xml_whatever_is_in_it(self, text: str) -> None:
        root = Element("a", b=text)
        SubElement(root, "c").text = text
        read = etree.fromstring(xml_document(root))
        assert read.get("b") is not None
        assert (read.findtext("c") or "").replace("\n", "") == visible(text).replace("\r\n", "\n").replace("\n", "")


class TestMarkdown:
    @pytest.mark.parametrize(
        ("text", "escaped"),
        [
            ("a | b\n<script>", "a \\| b \\<script\\>"),
            ("![x](http://e.example)", "\\!\\[x\\](http\\://e.example)"),
            ("@everyone #12 `x` *y* www.e.example", "@\u200beveryone \\#12 \\`x\\` \\*y\\* www\\.e.example"),
            ("\x1b[2J", "\\\\x1b\\[2J"),
            ("50.0 % (20.0-90.0)", "50.0 % (20.0-90.0)"),
        ],
    )
    def test_formats_links_and_mentions_nothing(self, text: str, escaped: str) -> None:
        assert markdown(text) == escaped


def fail() -> None:
    raise ValueError("x\nERROR root: forged\x1b[2J")


class TestLogRecord:
    def record(self, exc_info: Any = None) -> VisibleLogRecord:
        return VisibleLogRecord("x", 20, "x.py", 1, "it said %s", ("a\nERROR root: b\x1b[2J",), exc_info)

    def test_is_one_line(self) -> None:
        assert logging.Formatter("%(message)s").format(self.record()) == "it said a\\x0aERROR root: b\\x1b[2J"

    def test_a_traceback_begins_no_line(self) -> None:
        try:
            fail()
        except ValueError:
            lines = logging.Formatter("%(message)s").format(self.record(sys.exc_info())).splitlines()
        assert lines[-1] == "  ERROR root: forged\\x1b[2J"
        assert all(line.startswith("  ") for line in lines[1:])

    @given(st.text(st.characters()))
    def test_no_text_begins_a_line(self, text: str) -> None:
        assert len(one_line(text).splitlines()) <= 1


class TestStream:
    def test_shows_what_is_printed(self) -> None:
        out = io.StringIO()
        print("red \x1b[31m", file=VisibleStream(out))
        assert out.getvalue() == "red \\x1b[31m\n"

    def test_is_the_stream_for_everything_else(self) -> None:
        assert VisibleStream(sys.__stdout__ or io.StringIO()).writable()
