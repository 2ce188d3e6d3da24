"""Packages that office programs open and python-docx, python-pptx refuse."""

import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from backend.domain.evaluators.metrics.docs.compare_docx_files import compare_docx_files
from backend.domain.evaluators.metrics.slides.compare_pptx_files import compare_pptx_files
from backend.domain.formats.documents import read_document, texts
from backend.domain.formats.package_repair import openable
from tests.factories.docx import Picture, p, png, save, table
from tests.factories.pptx import deck

Members = dict[str, bytes]
WORD = b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
POWERPOINT = b"application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"


def rewritten(path: str, change: Callable[[Members], Members]) -> str:
    """The package with other members, beside it."""
    with zipfile.ZipFile(path) as package:
        members = {name: package.read(name) for name in package.namelist()}
    target = f"{path}.{Path(path).suffix}"
    with zipfile.ZipFile(target, "w") as out:
        for name, data in change(members).items():
            out.writestr(name, data)
    return target


def strict(members: Members) -> Members:
    """As "Strict Open XML" is saved: other namespaces in every part and relationship."""
    pattern = re.compile(rb"http://schemas\.openxmlformats\.org/(officeDocument|\w+ml)/2006/")
    kept = {name: pattern.sub(rb"http://purl.oclc.org/ooxml/\1/", data) for name, data in members.items()}
    kept = {name: data.replace(b"extended-properties", b"extendedProperties") for name, data in kept.items()}
    return kept | {"[Content_Types].xml": members["[Content_Types].xml"]}


def relation(
    target: str, kind: str = "image", owner: str = "word/_rels/document.xml.rels"
) -> Callable[[Members], Members]:
    name = f"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}"
    added = f'<Relationship Id="rId99" Type="{name}" Target="{target}"/></Relationships>'.encode()
    return lambda members: members | {owner: members[owner].replace(b"</Relationships>", added)}


def declared(old: bytes, new: str) -> Callable[[Members], Members]:
    name = "[Content_Types].xml"
    return lambda members: members | {name: members[name].replace(old, f"application/vnd.{new}.main+xml".encode())}


def without(*parts: str) -> Callable[[Members], Members]:
    """A package from which parts are gone, while what refers to them is still there."""
    return lambda members: {name: data for name, data in members.items() if name not in parts}


def renamed(old: str, new: str) -> Callable[[Members], Members]:
    return lambda members: {new if name == old else name: data for name, data in members.items()}


ANY = {
    "Strict": strict,
    "NULL in the package's own": relation("NULL", "thumbnail", "_rels/.rels"),
    "no properties": without("docProps/core.xml", "docProps/app.xml"),
}
DOCX = ANY | {
    "NULL": relation("NULL"),
    "NULL above": relation("../NULL"),
    "bookmark": relation("#_bm", "hyperlink"),
    "address without mode": relation("http://example.org/a b", "hyperlink"),
    "drive": relation("file:///C:\\a.docx", "attachedTemplate"),
    "empty": relation(""),
    "comments": relation("comments.xml", "comments"),
    "no theme": without("word/theme/theme1.xml"),
    "no settings": without("word/settings.xml", "word/webSettings.xml", "word/fontTable.xml"),
    "no numbering": without("word/numbering.xml"),
    "letter case": renamed("word/styles.xml", "word/Styles.xml"),
    "backslashes": renamed("word/settings.xml", "word\\settings.xml"),
    "macros": declared(WORD, "ms-word.document.macroEnabled"),
    "template": declared(WORD, "openxmlformats-officedocument.wordprocessingml.template"),
    "template with macros": declared(WORD, "ms-word.template.macroEnabledTemplate"),
}
PPTX = ANY | {
    "NULL": relation("NULL", owner="ppt/slides/_rels/slide1.xml.rels"),
    "slide address": relation("#slide9", "hyperlink", "ppt/slides/_rels/slide1.xml.rels"),
    "no printer": relation(
        "printerSettings/printerSettings1.bin", "printerSettings", "ppt/_rels/presentation.xml.rels"
    ),
    "no view": without("ppt/presProps.xml", "ppt/viewProps.xml", "ppt/tableStyles.xml"),
    "macros": declared(POWERPOINT, "ms-powerpoint.presentation.macroEnabled"),
    "template": declared(POWERPOINT, "openxmlformats-officedocument.presentationml.template"),
    "show": declared(POWERPOINT, "openxmlformats-officedocument.presentationml.slideshow"),
    "show with macros": declared(POWERPOINT, "ms-powerpoint.slideshow.macroEnabled"),
    "template with macros": declared(POWERPOINT, "ms-powerpoint.template.macroEnabled"),
}


class TestDocuments:
    @pytest.mark.parametrize("name", DOCX)
    def test_actual_and_expected(self, tmp_path: Path, name: str) -> None:
        gold = save(tmp_path / "gold.docx", "Title", p("Hello world", style="Heading 1"), table(("a", "b")))
        mine = rewritten(gold, DOCX[name])
        assert compare_docx_files(mine, gold).value == 1.0
        assert compare_docx_files(gold, mine).value == 1.0

    def test_nothing_to_mend(self, tmp_path: Path) -> None:
        path = save(tmp_path / "x.docx", "a", Picture(png()))
        assert openable(path) == path

    def test_published_evaluators_refuse_them(self, tmp_path: Path) -> None:
        gold = save(tmp_path / "gold.docx", "a")
        assert compare_docx_files(rewritten(gold, strict), gold, strict_upstream=True).value == 0.0

    def test_a_document_without_its_main_part(self, tmp_path: Path) -> None:
        path = rewritten(save(tmp_path / "x.docx", "a"), without("word/document.xml"))
        assert read_document(path, texts)[0] is None


class TestPresentations:
    @pytest.mark.parametrize("name", PPTX)
    def test_actual_and_expected(self, tmp_path: Path, name: str) -> None:
        gold = deck(tmp_path / "gold.pptx")
        mine = rewritten(gold, PPTX[name])
        assert compare_pptx_files(mine, gold).value == 1.0
        assert compare_pptx_files(gold, mine).value == 1.0
