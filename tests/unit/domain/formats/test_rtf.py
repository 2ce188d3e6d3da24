import pytest

from backend.domain.formats.rtf import BrokenRtf, read_rtf
from tests.error_codes import raises_code

WORDPAD = (
    rb"{\rtf1\ansi\ansicpg1252\uc1\deff0{\fonttbl{\f0\fnil\fcharset0 Arial;}}{\colortbl ;\red255\green0\blue0;}"
    rb"{\*\generator Wine Riched20 2.0.????;}{\info{\title Draft}}"
    rb"\b Summer party\b0\par" + b"\r\n" + rb"Bring {\b cake}, said J\'f6rg \u8212- or not.\par}"
)


def texts(data: bytes) -> list[str]:
    return [paragraph.text for paragraph in read_rtf(data)]


def bold_of(data: bytes) -> str:
    return "".join(
        sign for paragraph in read_rtf(data) for sign, bold in zip(paragraph.text, paragraph.bold, strict=True) if bold
    )


class TestReadRtf:
    def test_paragraphs_without_what_is_no_text(self) -> None:
        assert texts(WORDPAD) == ["Summer party", "Bring cake, said J\u00f6rg \u2014 or not.", ""]

    def test_bold_text(self) -> None:
        assert bold_of(WORDPAD) == "Summer partycake"

    def test_a_group_ends_what_began_in_it(self) -> None:
        assert bold_of(rb"{\rtf1 {\b a{b}\b0 c}d\b e\plain f}") == "abe"

    def test_characters_of_another_code_page(self) -> None:
        assert texts(rb"{\rtf1\ansicpg1251 \'cc\'e8\'f0}") == ["\u041c\u0438\u0440"]

    def test_fallback_characters_for_older_readers_are_skipped(self) -> None:
        assert texts(rb"{\rtf1\uc2 \u228ae{\uc0\u228}x}") == ["\u00e4\u00e4x"]

    def test_signs_of_the_format_itself(self) -> None:
        assert texts(rb"{\rtf1 \{a\\b\}\tab c\~d}") == ["{a\\b}\tc\u00a0d"]

    @pytest.mark.parametrize(
        ("data", "code"),
        [
            (b"", "not_rtf"),
            (b"Summer party", "not_rtf"),
            (rb"{\rtf1 {\b Summer", "group_open"),
            (rb"{\rtf1 a}}", "group_not_begun"),
            (rb"{\rtf1 " + b"{" * 100_000, "too_deep"),
        ],
    )
    def test_damaged_ones_are_refused(self, data: bytes, code: str) -> None:
        with raises_code(BrokenRtf, code):
            read_rtf(data)
