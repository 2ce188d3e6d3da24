"""The text of a file of whatever kind."""

import zipfile
from pathlib import Path

from backend.domain.evaluators.formats.inside import text_inside


def packed(path: Path, **members: str) -> str:
    with zipfile.ZipFile(path, "w") as package:
        for name, text in members.items():
            package.writestr(name.replace("_", "/") + ".xml", text)
    return str(path)


def test_a_text_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("Größe\r\nzwei".encode())
    assert text_inside(str(path)) == "Größe\nzwei"


def test_an_office_document(tmp_path: Path) -> None:
    xml = "<w:p><w:t>One &amp; </w:t><w:t>two</w:t></w:p><w:p><w:t>three</w:t></w:p>"
    assert text_inside(packed(tmp_path / "a.docx", word_document=xml)) == "One & two\nthree\n"


def test_what_declares_entities_is_not_read(tmp_path: Path) -> None:
    assert text_inside(packed(tmp_path / "a.odt", content='<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')) is None


def test_no_file(tmp_path: Path) -> None:
    assert text_inside(str(tmp_path / "none")) is None
