"""Malicious Office documents and zip files."""

import io
import struct
import zipfile
from pathlib import Path

import docx
import openpyxl  # type: ignore[import-untyped]
import pptx
import pytest

from backend.domain.formats import packages
from backend.domain.formats.packages import check_archive, check_package


def package(path: Path, members: dict[str, bytes], *, packing: int = zipfile.ZIP_DEFLATED) -> str:
    with zipfile.ZipFile(path, "w", packing) as out:
        for name, data in members.items():
            out.writestr(name, data)
    return str(path)


class TestCheckPackage:
    def test_documents_of_the_usual_libraries(self, tmp_path: Path) -> None:
        docx.Document().save(str(tmp_path / "a.docx"))
        pptx.Presentation().save(str(tmp_path / "a.pptx"))
        openpyxl.Workbook().save(tmp_path / "a.xlsx")
        assert [check_package(str(path)) for path in sorted(tmp_path.iterdir())] == ["", "", ""]

    def test_absent(self, tmp_path: Path) -> None:
        assert check_package(None) == check_package(str(tmp_path / "x")) == "the file does not exist"
        assert check_package(str(tmp_path)) == "the file does not exist"

    @pytest.mark.parametrize("data", [b"", b"hello", b"PK\x03\x04" + bytes(400)])
    def test_no_zip_file(self, tmp_path: Path, data: bytes) -> None:
        path = tmp_path / "x.docx"
        path.write_bytes(data)
        assert check_package(str(path)) == "the file is not an office document: BadZipFile"

    def test_old_format(self, tmp_path: Path) -> None:
        path = tmp_path / "x.docx"
        path.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(2000))
        assert "old binary format" in check_package(str(path))

    def test_huge_sparse_file(self, tmp_path: Path) -> None:
        path = tmp_path / "x.docx"
        with path.open("wb") as file:
            file.truncate(2 * 2**30)
        assert check_package(str(path)) == "the file is larger than 128 MiB"

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
    def test_entities(self, tmp_path: Path, encoding: str) -> None:
        text = (
            f'<?xml version="1.0" encoding="{encoding}"?><!-- {"x" * 9000} --><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
        )
        path = package(tmp_path / "x.docx", {"word/document.xml": text.encode(encoding)})
        assert check_package(path) == "'word/document.xml' declares entities"

    def test_a_document_type_alone_is_harmless(self, tmp_path: Path) -> None:
        """OpenOffice 2 wrote one into its manifest."""
        text = b'<?xml version="1.0"?><!DOCTYPE m:manifest PUBLIC "-//x" "Manifest.dtd"><m:manifest xmlns:m="x"/>'
        assert check_package(package(tmp_path / "x.odt", {"META-INF/manifest.xml": text, "empty.xml": b""})) == ""

    @pytest.mark.parametrize("encoding", ["utf-7", "no-such"])
    def test_an_encoding_that_could_hide_entities(self, tmp_path: Path, encoding: str) -> None:
        text = f'<?xml version="1.0" encoding="{encoding}"?><a/>'.encode()
        assert "is in an encoding of its own" in check_package(package(tmp_path / "x.docx", {"a.xml": text}))

    def test_a_wrong_checksum(self, tmp_path: Path) -> None:
        path = Path(package(tmp_path / "x.docx", {"a.xml": b"<!-- aaaa -->"}, packing=zipfile.ZIP_STORED))
        path.write_bytes(path.read_bytes().replace(b"aaaa", b"bbbb", 1))
        assert check_package(str(path)) == "the document is damaged: BadZipFile"

    def test_an_unknown_way_of_packing(self, tmp_path: Path) -> None:
        path = Path(package(tmp_path / "x.docx", {"a.xml": b"<a/>"}, packing=zipfile.ZIP_STORED))
        data = bytearray(path.read_bytes())
        central = data.index(b"PK\x01\x02")
        data[8:10] = data[central + 10 : central + 12] = struct.pack("<H", 97)
        path.write_bytes(bytes(data))
        assert check_package(str(path)) == "the document is damaged: NotImplementedError"


class TestCheckArchive:
    def test_a_bomb(self, tmp_path: Path) -> None:
        path = package(tmp_path / "x.zip", {f"{number}.bin": bytes(30 * 2**20) for number in range(7)})
        assert check_archive(path) == "the file unpacks to 210 MiB"

    def test_one_member_that_grows(self, tmp_path: Path) -> None:
        path = package(tmp_path / "x.zip", {"sheet.xml": bytes(40 * 2**20)})
        assert check_archive(path).startswith("'sheet.xml' unpacks to 10")

    def test_a_small_white_picture(self, tmp_path: Path) -> None:
        assert check_archive(package(tmp_path / "x.zip", {"white.bmp": b"\xff" * 5 * 2**20})) == ""

    def test_too_many_members(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(packages, "MAX_MEMBERS", 3)
        assert check_archive(package(tmp_path / "x.zip", dict.fromkeys("abcd", b""))) == "the file has 4 members"

    @pytest.mark.parametrize("name", ["/etc/passwd", "../a", "a/../../b", "C:\\x", "C:/x", "..\\a"])
    def test_names_that_lead_out(self, tmp_path: Path, name: str) -> None:
        assert "leads out of the file" in check_archive(package(tmp_path / "x.zip", {name: b"x"}))

    @pytest.mark.parametrize("name", ["a..b", "...", "Configurations2/", "a/b.c", "x: y"])
    def test_names_that_do_not(self, tmp_path: Path, name: str) -> None:
        assert check_archive(package(tmp_path / "x.zip", {name: b"x"})) == ""

    def test_the_same_name_twice(self, tmp_path: Path) -> None:
        path = Path(package(tmp_path / "x.zip", {"a.xml": b"1", "b.xml": b"2"}))
        path.write_bytes(path.read_bytes().replace(b"b.xml", b"a.xml"))
        assert check_archive(str(path)) == "'a.xml' is in the file 2 times"

    def test_a_password(self, tmp_path: Path) -> None:
        path = Path(package(tmp_path / "x.zip", {"a": b"1"}))
        data = bytearray(path.read_bytes())
        data[data.index(b"PK\x01\x02") + 8] |= 1
        path.write_bytes(bytes(data))
        assert check_archive(str(path)) == "the file is locked by a password"

    def test_members_that_overlap(self, tmp_path: Path) -> None:
        """Overlapping entries: many entries of the directory name one member, as in a zip bomb."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as out:
            out.writestr("a", b"x" * 1000)
        data = buffer.getvalue()
        start, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
        entries = [data[start:end].replace(b"a", bytes([letter]), 1) for letter in b"bcd"]
        tail = bytearray(data[end:])
        tail[8:12] = struct.pack("<HH", 4, 4)
        tail[12:16] = struct.pack("<I", 4 * (end - start))
        path = tmp_path / "x.zip"
        path.write_bytes(data[:end] + b"".join(entries) + bytes(tail))
        assert check_archive(str(path)) == "members of the file overlap"
