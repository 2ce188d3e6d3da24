"""Wrappers of text in Word: a reader's view is what is read."""

from pathlib import Path

import pytest

from backend.domain.formats.documents import cell_paragraphs, grid, read_document, text_of, texts
from backend.domain.formats.word_wrappers import w
from tests.factories.docx import Xml, p, save

NEXT = 'Requires="wps" xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
W14 = "http://schemas.microsoft.com/office/word/2010/wordml"
UNKNOWN = 'Requires="q" xmlns:q="http://example.org/q"'


def r(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def para(*runs: str, mark: str = "") -> str:
    properties = f'<w:pPr><w:rPr><w:{mark} w:id="1" w:author="a"/></w:rPr></w:pPr>' if mark else ""
    return f"<w:p>{properties}{''.join(runs)}</w:p>"


def char(kind: str) -> str:
    return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'


def field(code: str, result: str) -> str:
    return f"{char('begin')}{code}{char('separate')}{result}{char('end')}"


def code(text: str) -> str:
    return f"<w:r><w:instrText>{text}</w:instrText></w:r>"


def alternate(choice: str, fallback: str = "", requires: str = NEXT) -> str:
    other = f"<mc:Fallback>{fallback}</mc:Fallback>" if fallback else ""
    return f"<mc:AlternateContent><mc:Choice {requires}>{choice}</mc:Choice>{other}</mc:AlternateContent>"


GONE = '<w:del w:id="1" w:author="a"><w:r><w:delText>RUBBISH</w:delText></w:r></w:del>'
INLINE = {
    "inserted": f"<w:ins>{r('world')}</w:ins>",
    "moved here": f"<w:moveTo>{r('world')}</w:moveTo>",
    "moved away": f"{r('world')}<w:moveFrom>{r('RUBBISH')}</w:moveFrom>",
    "deleted": f"{r('wor')}{GONE}{r('ld')}",
    "inserted by somebody else at once": f'<w14:conflictIns xmlns:w14="{W14}">{r("world")}</w14:conflictIns>',
    "deleted by somebody else": f'{r("world")}<w14:conflictDel xmlns:w14="{W14}">{r("RUBBISH")}</w14:conflictDel>',
    "inserted, then deleted": f"{r('world')}<w:ins>{GONE}</w:ins>",
    "content control": f"<w:sdt><w:sdtPr><w:alias/></w:sdtPr><w:sdtContent>{r('world')}</w:sdtContent></w:sdt>",
    "control in control": f"<w:sdt><w:sdtContent><w:sdt><w:sdtContent>{r('world')}</w:sdtContent></w:sdt>"
    "</w:sdtContent></w:sdt>",
    "insertion in a control": f"<w:sdt><w:sdtContent><w:ins>{r('world')}</w:ins></w:sdtContent></w:sdt>",
    "smart tags": f"<w:smartTag><w:smartTagPr/><w:smartTag>{r('wor')}</w:smartTag>{r('ld')}</w:smartTag>",
    "custom XML": f"<w:customXml><w:customXmlPr/>{r('world')}</w:customXml>",
    "simple field": f'<w:fldSimple w:instr=" AUTHOR ">{r("world")}</w:fldSimple>',
    "field": field(code(" AUTHOR "), r("world")),
    "field in a field's code": field(code(" IF ") + field(code(" AUTHOR "), r("RUBBISH")) + code(" "), r("world")),
    "field in a field's result": field(code(" REF x "), r("wor") + field(code(" REF y "), r("ld"))),
    "field that never ends": f"{char('begin')}{r('world')}",
    "link": f"<w:hyperlink>{r('world')}</w:hyperlink>",
    "insertion in a link": f"<w:hyperlink><w:ins>{r('world')}</w:ins></w:hyperlink>",
    "field in a link": f"<w:hyperlink><w:fldSimple w:instr='REF x'>{r('world')}</w:fldSimple></w:hyperlink>",
    "direction": f"<w:dir w:val='ltr'><w:bdo w:val='ltr'>{r('world')}</w:bdo></w:dir>",
    "alternatives": alternate(r("world"), r("RUBBISH")),
    "unknown extension": alternate(r("RUBBISH"), r("world"), UNKNOWN),
    "alternatives in a run": f"<w:r>{alternate('<w:t>world</w:t>', '<w:t>RUBBISH</w:t>')}</w:r>",
    "ruby": f"<w:r><w:ruby><w:rubyPr/><w:rt>{r('RUBBISH')}</w:rt><w:rubyBase>{r('world')}</w:rubyBase></w:ruby></w:r>",
}


class TestInline:
    @pytest.mark.parametrize("name", INLINE)
    def test_visible_text(self, tmp_path: Path, name: str) -> None:
        path = save(tmp_path / "x.docx", "Title", p("Hello ", xml=INLINE[name]), "end")
        assert read_document(path, texts) == (["Title", "Hello world", "end"], "")

    def test_as_stored(self, tmp_path: Path) -> None:
        """The view of `strict_upstream`: python-docx's paragraphs."""
        path = save(tmp_path / "x.docx", *[p("Hello ", xml=xml) for xml in INLINE.values()])
        stored, _ = read_document(path, texts, as_stored=True)
        assert read_document(path, lambda one: [each.text for each in one.paragraphs], as_stored=True)[0] == stored
        assert stored is not None
        assert stored[0] == "Hello "


def tr(*cells: str, mark: str = "") -> str:
    return f"<w:tr>{f'<w:trPr><w:{mark}/></w:trPr>' if mark else ''}{''.join(cells)}</w:tr>"


def tc(text: str, properties: str = "") -> str:
    return f"<w:tc>{f'<w:tcPr>{properties}</w:tcPr>' if properties else ''}{para(r(text))}</w:tc>"


def content(xml: str) -> str:
    return f"<w:sdt><w:sdtPr/><w:sdtContent>{xml}</w:sdtContent></w:sdt>"


def tbl(*rows: str) -> str:
    return f"<w:tbl><w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>{''.join(rows)}</w:tbl>"


BLOCKS = {
    "content control": content(para(r("a")) + para(r("b"))),
    "custom XML": f"<w:customXml>{para(r('a'))}{content(para(r('b')))}</w:customXml>",
    "alternatives": alternate(para(r("a")) + para(r("b")), para(r("RUBBISH"))),
    "deleted mark": para(r("a")) + para(r("b"), mark="del") + para(),
    "inserted mark": para(r("a"), mark="ins") + para(r("b")),
    "deleted paragraphs": para(GONE, mark="del") * 2 + para(r("a")) + para(GONE, mark="del") + para(r("b")),
    "moved paragraph": para(r("a"))
    + para(f"<w:moveFrom>{r('RUBBISH')}</w:moveFrom>", mark="moveFrom")
    + para(f"<w:moveTo>{r('b')}</w:moveTo>", mark="moveTo"),
    "three joined": para(r("a")) + para(mark="del") * 3 + para(r("b")),
    "deleted before a table": para(r("a")) + para(r("b")) + para(GONE, mark="del") + tbl(tr(tc("t"))),
    "joined over a control": content(para(r("a"))) + para(mark="del") + content(para(r("b"))),
    "table of deleted rows": para(r("a")) + tbl(tr(tc("t"), mark="del")) + para(r("b")),
}


class TestBlocks:
    @pytest.mark.parametrize("name", BLOCKS)
    def test_paragraphs(self, tmp_path: Path, name: str) -> None:
        assert read_document(save(tmp_path / "x.docx", Xml(BLOCKS[name])), texts) == (["a", "b"], "")

    def test_the_joined_paragraph_looks_like_the_next(self, tmp_path: Path) -> None:
        """Its mark is the one that stays (ECMA-376, 17.13.5.15)."""
        last = f'<w:p><w:pPr><w:jc w:val="center"/></w:pPr>{r("b")}</w:p>'
        path = save(tmp_path / "x.docx", Xml(para(r("a"), mark="del") + last))
        kind, _ = read_document(path, lambda one: [(each.text, each.alignment) for each in one.paragraphs])
        assert kind == [("ab", 1)]

    def test_many_deleted_marks_take_linear_time(self, tmp_path: Path) -> None:
        path = save(tmp_path / "x.docx", Xml(para(r("a"), mark="del") * 20_000 + para(r("b"))))
        assert read_document(path, texts) == (["a" * 20_000 + "b"], "")

    @pytest.mark.parametrize(
        ("rows", "cells"),
        [
            (content(tr(tc("a"), tc("b"))), [["a", "b"]]),
            (tr(content(tc("a")), tc("b")), [["a", "b"]]),
            (tr(tc("a"), tc("b")) + tr(tc("x"), tc("y"), mark="del"), [["a", "b"]]),
            (tr(tc("a"), tc("b"), mark="ins"), [["a", "b"]]),
            (tr(tc("a"), tc("x", "<w:cellDel/>"), tc("b")), [["a", "b"]]),
            (tr(tc("a", '<w:hMerge w:val="restart"/>'), tc("", "<w:hMerge/>")), [["a", "a"]]),
            (f"<w:customXml>{tr(content(tc('a')), tc('b'))}</w:customXml>", [["a", "b"]]),
        ],
    )
    def test_tables(self, tmp_path: Path, rows: str, cells: list[list[str]]) -> None:
        path = save(tmp_path / "x.docx", Xml(tbl(rows)), "end")
        assert read_document(path, lambda one: grid(one.element.body.find(w("tbl")))) == (cells, "")
        shown, _ = read_document(path, lambda one: [*map(text_of, cell_paragraphs(one))])
        assert shown == (["a", ""] if "hMerge" in rows else ["a", "b"])

    def test_tables_in_tables(self, tmp_path: Path) -> None:
        inner = f"<w:tc>{para(r('a'))}{tbl(tr(tc('b'), content(tc('c'))))}{para()}</w:tc>"
        path = save(tmp_path / "x.docx", Xml(tbl(tr(inner, tc("d")))), "end")
        assert read_document(path, lambda one: grid(one.element.body.find(w("tbl")))) == ([["a\nb\nc", "d"]], "")
        assert read_document(path, lambda one: [*map(text_of, cell_paragraphs(one))]) == (["a", "b", "c", "", "d"], "")

    def test_columns_that_a_row_leaves_out(self, tmp_path: Path) -> None:
        def left_out(before: int, after: int) -> str:
            return f'<w:trPr><w:gridBefore w:val="{before}"/><w:gridAfter w:val="{after}"/></w:trPr>'

        below = tr(left_out(1, 0), tc("", "<w:vMerge/>"), tc("d"))
        rows = tr(tc("a") + tc("b", '<w:vMerge w:val="restart"/>') + tc("c")) + below + tr(left_out(0, 2) + tc("e"))
        path = save(tmp_path / "x.docx", Xml(tbl(rows)), "end")
        cells = [["a", "b", "c"], ["", "b", "d"], ["e", "", ""]]
        assert read_document(path, lambda one: grid(one.element.body.find(w("tbl")))) == (cells, "")
        path = save(tmp_path / "y.docx", Xml(tbl(tr(left_out(99_999_999, 0) + tc("a")))), "end")
        assert read_document(path, lambda one: grid(one.element.body.find(w("tbl"))))[0] is None

    def test_a_cell_over_more_columns_than_word_has(self, tmp_path: Path) -> None:
        for span, whole in ((63, True), (64, False), (99_999_999, False)):
            path = save(tmp_path / "x.docx", Xml(tbl(tr(tc("a", f'<w:gridSpan w:val="{span}"/>')))), "end")
            rows, reason = read_document(path, lambda one: grid(one.element.body.find(w("tbl"))))
            assert (rows is not None, reason == "") == (whole, whole)
