"""Formatting that is in a document and does not show."""

from pathlib import Path

import pytest

from backend.domain.evaluators.metrics.docs.compare_highlighted_text import compare_highlighted_text
from backend.domain.evaluators.metrics.docs.contains_page_break import contains_page_break
from backend.domain.evaluators.metrics.docs.has_page_numbers_in_footers import has_page_numbers_in_footers
from tests.factories.docx import P, p, save

BREAK = "<w:pageBreakBefore/>"


def field(code: str, properties: str = "") -> str:
    pieces = (
        '<w:fldChar w:fldCharType="begin"/>',
        f'<w:instrText xml:space="preserve">{code}</w:instrText>',
        '<w:fldChar w:fldCharType="separate"/>',
        "<w:t>1</w:t>",
        '<w:fldChar w:fldCharType="end"/>',
    )
    return "".join(f"<w:r><w:rPr>{properties}</w:rPr>{piece}</w:r>" for piece in pieces)


def nested(before: str, after: str) -> str:
    whole = field("CODE").replace('<w:instrText xml:space="preserve">CODE</w:instrText>', "CODE")
    text = "<w:instrText>{}</w:instrText></w:r>{}<w:r><w:instrText>{}</w:instrText>"
    return whole.replace("CODE", text.format(before, field("PAGE"), after))


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (field(" PAGE "), 1.0),
        (field(" page \\* roman "), 1.0),
        (field(" PAGE   \\* MERGEFORMAT "), 1.0),
        (nested("= ", " + 1"), 1.0),
        (nested(" IF ", ' > 1 "x" '), 1.0),
        (field(" NUMPAGES "), 0.0),
        (field(" SECTIONPAGES "), 0.0),
        (field(" PAGEREF _Toc1 \\h "), 0.0),
        (field(' QUOTE "PAGE" '), 0.0),
        (field(" DATE "), 0.0),
        (field(" PAGE ", "<w:vanish/>"), 0.0),
        (field(" PAGE ", '<w:vanish w:val="0"/>'), 1.0),
        ("<w:sdt><w:sdtContent><w:r><w:pgNum/></w:r></w:sdtContent></w:sdt>", 1.0),
    ],
)
def test_page_numbers(tmp_path: Path, content: str, value: float) -> None:
    path = save(tmp_path / "a.docx", "text", footer=f"<w:p>{content}</w:p>")
    assert has_page_numbers_in_footers(path).value == value


@pytest.mark.parametrize(
    ("highlight", "value"),
    [
        ('<w:highlight w:val="green"/>', 1.0),
        ('<w:highlight w:val="white"/>', 0.0),
        ('<w:highlight w:val="none"/>', 0.0),
    ],
)
def test_highlights(tmp_path: Path, highlight: str, value: float) -> None:
    def document(name: str, look: str) -> str:
        return save(tmp_path / name, p(xml=f"<w:r><w:rPr>{look}</w:rPr><w:t>word</w:t></w:r>"))

    gold = document("gold.docx", '<w:highlight w:val="yellow"/>')
    assert compare_highlighted_text(document("a.docx", highlight), gold).value == value


@pytest.mark.parametrize(
    ("blocks", "value"),
    [
        ((p("a", properties=BREAK),), 0.0),
        (("a", p("b", properties=BREAK)), 1.0),
        ((p("a", properties=BREAK), p("b", properties=BREAK)), 1.0),
        (("a", p("b", properties='<w:pageBreakBefore w:val="0"/>')), 0.0),
        ((p(xml="<w:r><w:lastRenderedPageBreak/><w:t>a</w:t></w:r>"),), 0.0),
        ((p(xml='<w:r><w:br w:type="column"/></w:r>'),), 0.0),
        ((p(xml='<w:del w:id="1" w:author="a"><w:r><w:br w:type="page"/></w:r></w:del>'),), 0.0),
    ],
)
def test_page_breaks(tmp_path: Path, blocks: tuple[P | str, ...], value: float) -> None:
    assert contains_page_break(save(tmp_path / "a.docx", *blocks)).value == value
