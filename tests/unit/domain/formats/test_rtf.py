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
    def test_paragraphs_without_what_is_not_text(self) -> None:
        assert texts(WORDPAD) == ["Summer party", "Bring cake, said J\u00f6rg \u2014 or not.", ""]

    def test_bold_text(self) -> None:
        assert bold_of(WORDPAD) == "Summer partycake"

    def test_a_group_ends_what_began_in_it(self) -> None:
        assert bold_of(rb"{\rtf1 {\b a{b}\b0 c}d\b e\plain f}") == "abe"

    def test_characters_of_another_code_page(self) -> None:
        assert texts(rb"{\rtf1\ansicpg1251 \'cc\'e8\'f0}") == ["\u041c\u0438\u0440"]

    def test_fallback_characters_for_older_readers_are_skipped(self) -> None:
        assert texts(rb"{\rtf1\uc2 \u228ae{\uc0\u228}x}") == ["\u00e4\u00e4x"]

    @pytest.mark.parametrize(
        ("page", "letters", "text"),
        [
            (936, rb"\'c4\'e3\'ba\'c3", "\u4f60\u597d"),
            (932, rb"\'83\\ \'83A", "\u30bd \u30a2"),
            (1250, rb"\'9a", "\u0161"),
            (1, rb"\'e9", "\u00e9"),
        ],
    )
    def test_code_pages(self, page: int, letters: bytes, text: str) -> None:
        assert texts(rb"{\rtf1\ansi\ansicpg%d %s}" % (page, letters)) == [text]

    def test_fonts_have_characters_of_their_own(self) -> None:
        fonts = rb"{\fonttbl{\f0\fcharset0 Arial;}{\f1\fnil\fcharset204 Arial;}}"
        data = rb"{\rtf1\ansi\ansicpg1252%s\f1\'cc\'e8\'f0\f0\'e9{\f1\'cc}\'e9\f1\plain\'e9}" % fonts
        assert texts(data) == ["\u041c\u0438\u0440\u00e9\u041c\u00e9\u00e9"]

    def test_halves_of_a_character(self) -> None:
        (paragraph,) = read_rtf(rb"{\rtf1\uc1 \b\u-10179?\u-8704?\b0 x\u-8704?}")
        assert (paragraph.text, paragraph.bold) == ("\U0001f600x\ude00", (True, False, False))

    @pytest.mark.parametrize(
        "aside",
        [
            *(
                rb"{\listtext\plain 1.\tab}",
                rb"{\pntext\'B7\tab}",
                rb"{\footnote no}",
                rb"{\xe no}",
                rb"{\annotation no}",
            ),
            *(
                rb"{\deleted no}",
                rb"{\deleted no\deleted0}",
                rb"{\footnote\deleted0 no}",
                rb"{\deleted no\par}",
                rb"{\upr{no}{\*\ud{}}}",
                rb"{\info{\upr{no}{\*\ud{no}}}}",
            ),
            rb"{\shp{\*\shpinst no}{\shprslt no}}",
        ],
    )
    def test_text_that_is_not_in_the_line(self, aside: bytes) -> None:
        assert texts(rb"{\rtf1 a" + aside + rb"b}") == ["ab"]

    @pytest.mark.parametrize("end", [rb"\par ", rb"\page ", rb"\sect ", rb"\cell ", rb"\nestcell "])
    def test_ends_of_lines(self, end: bytes) -> None:
        assert texts(rb"{\rtf1 a" + end + rb"b}") == ["a", "b"]

    def test_text_in_two_forms(self) -> None:
        assert texts(rb"{\rtf1 {\upr{a}{\*\ud{\u20320?}}}\_b\emspace c}") == ["\u4f60-b\u2003c"]

    @pytest.mark.parametrize("part", [rb"\'e9", rb"\u233?", rb"x{}", rb"\u-10179?"])
    def test_long_paragraphs_take_linear_time(self, part: bytes) -> None:
        assert len(texts(rb"{\rtf1 " + part * 100_000 + rb"}")[0]) == 100_000

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
