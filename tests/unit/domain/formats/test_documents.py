"""Word documents and OpenDocument texts as they are read: text, tables, looks."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from docx.document import Document
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.formats.document_styles import DocumentStyles
from backend.domain.formats.documents import grid, paragraphs, pictures, read_document, runs, texts
from backend.domain.formats.odt import (
    Odt,
    OdtBackgrounds,
    odt_paragraphs,
    odt_texts,
    odt_texts_as_published,
    pieces,
    read_odt,
)
from backend.domain.formats.word_wrappers import w
from tests.factories.docx import Picture, Xml, p, png, r, save, save_odt, table

T = TypeVar("T")
LOEXT = "urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0"


def taken(path: str, take: Callable[[Document], T]) -> T:
    result, reason = read_document(path, take)
    assert reason == ""
    assert result is not None
    return result


class TestReadDocument:
    def test_absent(self) -> None:
        assert read_document(None, texts) == (None, "the file does not exist")

    def test_no_word_document(self, tmp_path: Path) -> None:
        path = save_odt(tmp_path / "x.docx", "<text:p>a</text:p>")
        assert read_document(path, texts) == (None, "the document is damaged: KeyError")

    def test_errors_of_the_reader_count_as_damage(self, tmp_path: Path) -> None:
        path = save(tmp_path / "x.docx", p("a", properties='<w:spacing w:line="wide"/>'))
        result, reason = read_document(path, lambda one: DocumentStyles(one).line_spacing(paragraphs(one)[0]))
        assert (result, reason) == (None, "the document is damaged: ValueError")


class TestTexts:
    def test_as_python_docx_reads(self, tmp_path: Path) -> None:
        link = "<w:hyperlink><w:r><w:t>link</w:t></w:r></w:hyperlink>"
        more = '<w:r><w:t>a</w:t><w:br/><w:t>b</w:t><w:br w:type="page"/><w:cr/><w:noBreakHyphen/><w:tab/></w:r>'
        inserted = "<w:ins><w:r><w:t>new</w:t></w:r></w:ins>"
        path = save(tmp_path / "x.docx", p("x\ty\n", xml=link + more + inserted), table(("cell",)), "z")

        def both(one: Document) -> tuple[list[str], list[str]]:
            return texts(one), [paragraph.text for paragraph in one.paragraphs]

        assert taken(path, both) == (["x\ty\nlinka\nb\n-\tnew", "z"],) * 2
        assert read_document(path, both, as_stored=True)[0] == (["x\ty\nlinka\nb\n-\t", "z"],) * 2

    @settings(max_examples=15, deadline=None)
    @given(st.lists(st.text("ab \t\n-", max_size=6), max_size=4))
    def test_any_text(self, tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
        path = save(tmp_path_factory.mktemp("any") / "x.docx", *lines)
        result = taken(path, lambda one: (texts(one), [paragraph.text for paragraph in one.paragraphs]))
        assert result[0] == result[1] == lines


class TestGrid:
    def test_spans(self, tmp_path: Path) -> None:
        cell = "<w:tc><w:tcPr>{}</w:tcPr><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"
        rows = [
            [cell.format('<w:gridSpan w:val="2"/>', "wide"), cell.format('<w:vMerge w:val="restart"/>', "high")],
            [cell.format("", "a"), cell.format("", "b"), cell.format("<w:vMerge/>", "")],
        ]
        made = "".join(f"<w:tr>{''.join(row)}</w:tr>" for row in rows)
        layout = "<w:tblGrid><w:gridCol/><w:gridCol/><w:gridCol/></w:tblGrid>"
        path = save(tmp_path / "x.docx", Xml(f"<w:tbl>{layout}{made}</w:tbl>"), "")
        ours, theirs = taken(
            path,
            lambda one: (
                grid(one.element.body.find(w("tbl"))),
                [[one.tables[0].cell(row, column).text for column in range(3)] for row in range(2)],
            ),
        )
        assert ours == theirs == [["wide", "wide", "high"], ["a", "b", "high"]]


class TestPictures:
    def test_order_and_copies_for_old_readers(self, tmp_path: Path) -> None:
        old = '<w:pict><v:shape><v:imagedata r:id="rId99"/></v:shape></w:pict>'
        new = f'<mc:Choice Requires="v"><w:drawing/></mc:Choice><mc:Fallback>{old}</mc:Fallback>'
        both = f"<w:r><mc:AlternateContent>{new}</mc:AlternateContent></w:r>"
        path = save(tmp_path / "x.docx", Picture(png()), p(xml=both), p(xml=f"<w:r>{old}</w:r>"), Picture(png("blue")))
        result = taken(path, lambda one: list(pictures(one.element.body)))
        assert result[1] == "rId99"
        assert len(result) == 3


def looks(path: str, ask: Callable[[DocumentStyles, Any, Any], T], *, direct: bool = False) -> list[T]:
    """Properties of every run."""

    def take(document: Document) -> list[T]:
        styles = DocumentStyles(document, direct=direct)
        return [ask(styles, paragraph, run) for paragraph in paragraphs(document) for run in runs(paragraph)]

    return taken(path, take)


class TestStyles:
    def test_own_style_based_on_and_default(self, tmp_path: Path) -> None:
        named = (
            '<w:style w:type="paragraph" w:styleId="A"><w:name w:val="A"/><w:basedOn w:val="B"/></w:style>'
            '<w:style w:type="paragraph" w:styleId="B"><w:name w:val="B"/><w:basedOn w:val="A"/>'
            '<w:pPr><w:jc w:val="center"/><w:spacing w:line="480"/></w:pPr>'
            '<w:rPr><w:sz w:val="40"/><w:rFonts w:ascii="Arial"/></w:rPr></w:style>'
        )
        path = save(
            tmp_path / "x.docx", p("a", style="A"), p(r("b", size=9), style="A", align="right"), "c", styles=named
        )
        assert looks(path, lambda styles, one, run: styles.size(one, run)) == [20.0, 9.0, 11.0]
        assert looks(path, lambda styles, one, _: styles.alignment(one)) == ["center", "right", "left"]
        assert looks(path, lambda styles, one, _: styles.line_spacing(one)) == [("auto", 480)] * 2 + [("auto", 276)]
        assert looks(path, lambda styles, one, run: styles.size(one, run), direct=True) == [None, 9.0, None]
        assert looks(path, lambda styles, one, _: styles.line_spacing(one), direct=True) == [None] * 3

    def test_a_font_of_the_theme(self, tmp_path: Path) -> None:
        """python-docx's template names its font by the theme, as Word does."""
        path = save(tmp_path / "x.docx", p("a", r("b", name="Arial")))
        assert looks(path, lambda styles, *run: styles.fonts(*run, "x")) == [{"Cambria"}, {"Arial"}]

    def test_switches_of_both_styles_cancel_out(self, tmp_path: Path) -> None:
        named = (
            '<w:style w:type="paragraph" w:styleId="Q"><w:name w:val="Q"/><w:rPr><w:i/></w:rPr></w:style>'
            '<w:style w:type="character" w:styleId="E"><w:name w:val="E"/><w:rPr><w:i w:val="true"/></w:rPr></w:style>'
        )
        parts = ("a", r("b", style="E"), r("c", italic=False))
        path = save(tmp_path / "x.docx", p(*parts, style="Q"), p(*parts), styles=named)
        assert looks(path, lambda styles, *one: styles.has("i", *one)) == [True, False, False, False, True, False]

    def test_shading_is_highlighting(self, tmp_path: Path) -> None:
        runs_of = "".join(
            f"<w:r><w:rPr>{look}</w:rPr><w:t>x</w:t></w:r>"
            for look in (
                '<w:highlight w:val="yellow"/>',
                '<w:highlight w:val="none"/>',
                '<w:shd w:val="clear" w:fill="FFFF00"/>',
                '<w:shd w:val="clear" w:fill="auto"/>',
                '<w:shd w:fill="FFFFFF"/>',
            )
        )
        path = save(tmp_path / "x.docx", p(xml=runs_of))
        assert looks(path, lambda styles, *one: styles.highlight(*one)) == ["yellow", None, "FFFF00", None, None]


def opened(path: str, take: Callable[[Odt], T]) -> T:
    result, reason = read_odt(path, take)
    assert reason == ""
    assert result is not None
    return result


class TestOdt:
    BODY = (
        "<text:h>Title</text:h><text:p>a<text:s/><text:s text:c='2'/>b<text:tab/>c"
        "<text:span>d<text:span>e</text:span><text:line-break/></text:span><text:a xlink:href='x'>link</text:a>"
        " on <text:date>today</text:date>.</text:p>"
    )
    FIELDS = (
        "<text:p>a<text:bookmark-ref>1</text:bookmark-ref><text:user-defined>2</text:user-defined>"
        "<text:span><text:sequence>3</text:sequence></text:span><text:a><text:author-name>4</text:author-name></text:a>"
        "<text:date text:fixed='true'>5</text:date><text:page-number>X</text:page-number><text:time>X</text:time>"
        "<text:variable-set>6</text:variable-set><text:placeholder>7</text:placeholder><text:number>X</text:number>"
        "<text:variable-set text:display='none'>X</text:variable-set>"
        "<office:annotation><text:p>X</text:p></office:annotation><office:annotation-end/>"
        "<text:ruby><text:ruby-base>8</text:ruby-base><text:ruby-text>X</text:ruby-text></text:ruby>"
        "<text:reference-ref>9</text:reference-ref></text:p>"
    )

    def test_all_text(self, tmp_path: Path) -> None:
        assert opened(save_odt(tmp_path / "x.odt", self.BODY), odt_texts) == ["Title", "a   b\tcde\nlink on ."]

    def test_fields_without_comments_and_what_changes_by_itself(self, tmp_path: Path) -> None:
        assert opened(save_odt(tmp_path / "x.odt", self.FIELDS), odt_texts) == ["a123456789"]

    @pytest.mark.parametrize(
        ("body", "shown"),
        [
            ("a   b\n  c", "a b c"),
            ("\n  a b\n", "a b"),
            ("a <text:span> b </text:span> c", "a b c"),
            ("<text:span> </text:span>a", "a"),
            ("a\tb", "a b"),
            ("a <text:s/> b", "a   b"),
            (" <text:s text:c='2'/>a<text:tab/> ", "  a\t"),
            ("a<text:soft-page-break/>b<!-- no --><?no no?>c", "abc"),
            ("a\N{NO-BREAK SPACE} b", "a\N{NO-BREAK SPACE} b"),
            ("a<text:change-start text:change-id='x'/>b<text:change-end text:change-id='x'/>", "ab"),
            ("a<text:modification-date>1</text:modification-date><text:print-time>2</text:print-time>", "a"),
            ("a<text:file-name>x.odt</text:file-name><text:page-continuation>5</text:page-continuation>", "a"),
            ("<text:file-name text:fixed='true'>x.odt</text:file-name>", "x.odt"),
            (f'a<x:content-control xmlns:x="{LOEXT}"><text:span>b</text:span></x:content-control>', "ab"),
            (f'a<x:other xmlns:x="{LOEXT}">b</x:other>', "a"),
            ("<text:bookmark-ref text:reference-format='page'>7</text:bookmark-ref>a", "a"),
            ("<text:bookmark-ref text:reference-format='text'>one</text:bookmark-ref>a", "onea"),
            (
                "<text:meta>a<text:bookmark-start/>b</text:meta><text:bibliography-mark>[1]</text:bibliography-mark>",
                "ab[1]",
            ),
        ],
    )
    def test_lines(self, tmp_path: Path, body: str, shown: str) -> None:
        assert opened(save_odt(tmp_path / "x.odt", f"<text:p>{body}</text:p>"), odt_texts) == [shown]

    def test_a_document_without_styles(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(save_odt(tmp_path / "x.odt", "<text:p>a</text:p>")) as whole:
            content = whole.read("content.xml")
        with zipfile.ZipFile(tmp_path / "y.odt", "w") as package:
            package.writestr("content.xml", content)
        assert opened(str(tmp_path / "y.odt"), odt_texts) == ["a"]

    def test_sections_lists_and_tables(self, tmp_path: Path) -> None:
        body = "<text:section><text:p>a</text:p></text:section><text:list><text:list-item><text:p>b</text:p>"
        inner = "<text:list><text:list-header><text:h>c</text:h></text:list-header></text:list>"
        body += f"{inner}</text:list-item></text:list>"
        assert opened(save_odt(tmp_path / "x.odt", body), odt_texts) == ["a", "b", "c"]

    def test_as_published(self, tmp_path: Path) -> None:
        assert opened(save_odt(tmp_path / "x.odt", self.BODY), odt_texts_as_published) == ["abcd on ."]

    def test_deleted_text_and_headers(self, tmp_path: Path) -> None:
        region = "<text:changed-region><text:p>gone</text:p></text:changed-region>"
        gone = f"<text:tracked-changes>{region}</text:tracked-changes>"
        header = "<style:master-page><style:header><text:p>head</text:p></style:header></style:master-page>"
        path = save_odt(tmp_path / "x.odt", f"{gone}<text:p>here</text:p>", headers=header)
        assert opened(path, odt_texts) == ["head", "here"]

    def test_a_flood_of_blanks(self, tmp_path: Path) -> None:
        path = save_odt(tmp_path / "x.odt", "<text:p><text:s text:c='2000000000'/></text:p>")
        assert len(opened(path, odt_texts)[0]) == 10_000

    def test_no_text_document(self, tmp_path: Path) -> None:
        assert read_odt(save(tmp_path / "x.odt", "a"), odt_texts) == (None, "the document is damaged: KeyError")

    def test_backgrounds(self, tmp_path: Path) -> None:
        style = '<style:style style:name="{}" style:family="{}" style:parent-style-name="{}">{}</style:style>'
        back = '<style:text-properties fo:background-color="{}"/>'
        named = style.format("Mark", "text", "Mark", back.format("#FFFF00"))
        automatic = (
            style.format("T1", "text", "Mark", "")
            + style.format("T2", "text", "", back.format("transparent"))
            + style.format("P1", "paragraph", "", back.format("#ff0000"))
        )
        spans = "".join(f'<text:span text:style-name="{name}">{name}</text:span>' for name in ("T1", "T2", "none"))
        body = f'<text:p text:style-name="P1">{spans}</text:p>'
        path = save_odt(tmp_path / "x.odt", body, named=named, automatic=automatic)

        def colors(document: Odt) -> list[tuple[str, str]]:
            result = OdtBackgrounds(document)
            return [(text, result.color_of(names)) for one in odt_paragraphs(document) for text, names in pieces(one)]

        assert opened(path, colors) == [("T1", "#ffff00"), ("T2", "transparent"), ("none", "#ff0000")]
