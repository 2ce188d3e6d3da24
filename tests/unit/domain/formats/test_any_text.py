"""Text of a file of any application."""

import zipfile
from pathlib import Path

import pytest
from pptx import Presentation

from backend.domain.formats.any_text import read_any_text
from tests.factories.docx import p, save, save_odt, table
from tests.factories.workbooks import workbook


@pytest.mark.parametrize("ending", ["odt", "ods", "odp"])
def test_an_open_document(tmp_path: Path, ending: str) -> None:
    body = '<text:h>One &amp;<text:s text:c="2"/>two</text:h><text:p>three</text:p>'
    assert read_any_text(save_odt(tmp_path / f"a.{ending}", body)) == ("One &  two\nthree", "")


@pytest.mark.parametrize("ending", ["xlsx", "xlsm", "xltx"])
def test_a_workbook_is_its_cells_only(tmp_path: Path, ending: str) -> None:
    (tmp_path / f"a.{ending}").write_bytes(workbook([["milk", 7.0], [None, "tea"]]))
    assert read_any_text(str(tmp_path / f"a.{ending}")) == ("milk\n7\ntea", "")


@pytest.mark.parametrize("ending", ["docx", "docm", "dotx"])
def test_a_document_is_what_it_shows(tmp_path: Path, ending: str) -> None:
    inserted = p("milk ", xml="<w:ins><w:r><w:t>and tea</w:t></w:r></w:ins>")
    path = save(tmp_path / f"a.{ending}", inserted, table(("bread", "jam")))
    assert read_any_text(path) == ("milk and tea\nbread\njam", "")


def test_text_beside_the_body_of_a_document(tmp_path: Path) -> None:
    box = "<w:r><w:pict><v:textbox><w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent>"
    footer = "<w:p><w:ins><w:r><w:t>foot</w:t></w:r></w:ins><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>"
    path = save(tmp_path / "a.docx", p("milk", xml=f"{box}</v:textbox></w:pict></w:r>"), footer=footer)
    assert read_any_text(path) == ("milk\nbox\nfoot", "")


def test_notes_of_slides(tmp_path: Path) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "milk"
    slide.notes_slide.notes_text_frame.text = "and tea"
    deck.save(str(tmp_path / "a.pptx"))
    assert read_any_text(str(tmp_path / "a.pptx")) == ("milk\nand tea", "")


@pytest.mark.parametrize("ending", ["docx", "xlsx", "pptx", "odt", "ods"])
@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_damaged_one_has_no_text_and_a_reason(tmp_path: Path, ending: str, packing: int) -> None:
    path = tmp_path / f"a.{ending}"
    with zipfile.ZipFile(path, "w", packing) as package:
        package.writestr("content.xml", "".join(f"<a>{n}</a>" for n in range(500)))
    data = bytearray(path.read_bytes())
    data[41:60] = b"\xff" * 19  # What was packed: behind the header's 30 bytes and the name.
    path.write_bytes(data)
    text, reason = read_any_text(str(path))
    assert text is None
    assert reason.startswith("the document is damaged")


def test_no_file(tmp_path: Path) -> None:
    for name in ("a.txt", "a.ods", "a.xlsx"):
        assert read_any_text(str(tmp_path / name)) == (None, "the file does not exist")
