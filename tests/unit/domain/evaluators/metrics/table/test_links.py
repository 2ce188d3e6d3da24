"""Links that the function HYPERLINK makes."""

from pathlib import Path

import pytest

from backend.domain.evaluators.metrics.table.compare_table import compare_table
from tests.factories.plain_xlsx import workbook

ADDRESS = "https://example.org/a"
LINK = (
    '<Relationship Id="x" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink"'
    f' Target="{ADDRESS}" TargetMode="External"/>'
)


def cells(formula: str, attributes: str = "") -> str:
    address = f'<c r="A2" t="inlineStr"><is><t>{ADDRESS}</t></is></c><c r="B2" t="str">'
    return f"{address}<f{attributes}>{formula}</f><v>page</v></c>"


def link_of(book: str, ref: str, coordinate: str = "B2", *, strict: bool = False) -> float:
    props = {"hyperlink": {"method": "eq", "ref": ref}}
    rule = {"type": "check_cell", "sheet_idx": 0, "coordinate": coordinate, "props": props}
    return compare_table(book, None, rules=[rule], strict_upstream=strict).value


@pytest.mark.parametrize(
    ("formula", "target"),
    [
        ('HYPERLINK("https://example.org/a","page")', ADDRESS),
        ('HYPERLINK("https://example.org/a")', ADDRESS),
        ('hyperlink( "https://example.org/a" ; "a, b")', ADDRESS),
        ('HYPERLINK("https://example.org/a,b;c","x")', "https://example.org/a,b;c"),
        ('HYPERLINK("https://example.org/?q=""x""","x")', 'https://example.org/?q="x"'),
        ('HYPERLINK(A2,"page")', ADDRESS),
        ("HYPERLINK($A$2)", ADDRESS),
        ('HYPERLINK(Sheet1!A2,"page")', ADDRESS),
        ('HYPERLINK("https://example.org/" &amp; "a",A2)', ADDRESS),
        ('HYPERLINK(IF(1=1,A2,"x"),"page")', ADDRESS),
        ('HYPERLINK("#Sheet1!A1","top")', "#Sheet1!A1"),
        ('HYPERLINK("mailto:a@example.org","mail")', "mailto:a@example.org"),
        ('HYPERLINK("https://example.org/a")&amp;"x"', ""),
        ('UPPER("HYPERLINK(A2)")', ""),
        ("HYPERLINK(Missing!A2)", ""),
        ("HYPERLINK(OTHER(A2))", ""),
        ("HYPERLINK()", ""),
    ],
)
@pytest.mark.parametrize("prefix", ["", "<!-- read in full -->"])
def test_targets(tmp_path: Path, formula: str, target: str, prefix: str) -> None:
    book = workbook(tmp_path / "a.xlsx", cells(formula), before=prefix)
    assert [link_of(book, ref) for ref in (target, "https://example.org/b")] == [1.0, 0.0]
    assert link_of(book, "", strict=True) == 1.0


@pytest.mark.parametrize("prefix", ["", "<!-- read in full -->"])
def test_a_formula_that_several_cells_share(tmp_path: Path, prefix: str) -> None:
    shared = cells("HYPERLINK(A2)", ' t="shared" ref="B2:C2" si="0"')
    moved = shared + '<c r="C2" t="str"><f t="shared" si="0"/><v>x</v></c>'
    book = workbook(tmp_path / "a.xlsx", moved, before=prefix)
    assert [link_of(book, ADDRESS), link_of(book, "page", "C2")] == [1.0, 1.0]


def test_a_formula_looks_like_a_link_that_is_set(tmp_path: Path) -> None:
    by_formula = workbook(tmp_path / "a.xlsx", cells(f'HYPERLINK("{ADDRESS}","page")'))
    text = '<c r="B2" t="inlineStr"><is><t>page</t></is></c>'
    after = '<hyperlinks><hyperlink ref="B2" r:id="x"/></hyperlinks>'
    by_cell = workbook(tmp_path / "b.xlsx", cells("")[: cells("").index('<c r="B2"')] + text, after=after, links=LINK)
    other = workbook(tmp_path / "c.xlsx", cells('HYPERLINK("https://example.org/b","page")'))
    rule = {"type": "style", "sheet_idx0": 0, "sheet_idx1": "EI0", "props": ["hyperlink"]}
    assert [compare_table(book, by_cell, rules=[rule]).value for book in (by_formula, other)] == [1.0, 0.0]
