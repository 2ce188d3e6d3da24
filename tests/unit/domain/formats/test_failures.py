"""Lack of memory, disk or file handles is not reported as a damaged file."""

import errno
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters.files.content_from_vm_file import ContentFromVmFile
from backend.domain.evaluators.metrics.general.fuzzy_place_math import fuzzy_place_math
from backend.domain.evaluators.metrics.goals.document_goals import document_goals
from backend.domain.evaluators.metrics.others.check_mp3_meta import check_mp3_meta
from backend.domain.formats.documents import read_document
from backend.domain.formats.failures import EXPLODES, let_through
from backend.domain.formats.odt import read_odt
from backend.domain.formats.packages import check_package
from backend.domain.formats.pictures import read_picture
from backend.domain.formats.slides import look_into
from backend.domain.model.score import Blob
from tests.factories.docx import p, png, save, save_odt

WANTS = [
    MemoryError(),
    OSError(errno.ENOSPC, "No space left on device"),
    OSError(errno.EMFILE, "Too many open files"),
    OSError(errno.ENFILE, "Too many open files in system"),
    OSError(errno.ENOMEM, "Cannot allocate memory"),
    EvaluatorFailed("no verdict"),
]
EACH = pytest.mark.parametrize("error", WANTS, ids=repr)
LITTLE = """
import resource, sys
from backend.domain.formats.documents import read_document, texts
from docx import Document
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]) << 20,) * 2)
print(read_document(sys.argv[1], texts))
"""


def raising(error: BaseException) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> Any:
        raise error

    return fail


class TestLetThrough:
    @EACH
    def test_the_machines_want_is_raised(self, error: Exception) -> None:
        with pytest.raises(type(error)):
            let_through(error)

    @EACH
    def test_parser_error_with_an_infrastructure_cause_is_raised(self, error: Exception) -> None:
        made = ValueError("unreadable")
        made.__cause__ = error
        with pytest.raises(ValueError, match="unreadable"):
            let_through(made)

    @pytest.mark.parametrize("error", [ValueError(), FileNotFoundError(errno.ENOENT, "no"), OSError("odd"), KeyError()])
    def test_damage_is_not_raised(self, error: Exception) -> None:
        let_through(error)

    def test_a_file_that_explodes_has_only_itself_to_blame(self, tmp_path: Path) -> None:
        path = tmp_path / "a.docx"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
            package.writestr("a.xml", b"<a/>" * (EXPLODES // 4))
        let_through(MemoryError(), str(path))
        with pytest.raises(MemoryError):
            let_through(MemoryError(), save(tmp_path / "b.docx", p("x")))
        with pytest.raises(OSError, match="Too many"):
            let_through(OSError(errno.EMFILE, "Too many"), str(path))


class TestReaders:
    @EACH
    def test_document_reader_raises_infrastructure_errors(self, error: Exception, tmp_path: Path) -> None:
        with pytest.raises(type(error)):
            read_document(save(tmp_path / "a.docx", p("x")), raising(error))
        with pytest.raises(type(error)):
            read_odt(save_odt(tmp_path / "a.odt", "<text:p>a</text:p>"), raising(error))

    @EACH
    def test_word_metric_raises_infrastructure_errors(
        self, error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = save(tmp_path / "a.docx", p("x"))
        monkeypatch.setattr("docx.Document", raising(error))
        with pytest.raises(type(error)):
            document_goals(path, {"paragraphs": ["x"]})
        with pytest.raises(type(error)):
            fuzzy_place_math(path, {"expected": ["x"]})

    @EACH
    def test_slide_reader_raises_infrastructure_errors(self, error: Exception, tmp_path: Path) -> None:
        from pptx import Presentation

        path = str(tmp_path / "a.pptx")
        Presentation().save(path)
        with pytest.raises(type(error)):
            look_into(path, raising(error))

    @EACH
    def test_picture_reader_raises_infrastructure_errors(
        self, error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "a.png"
        path.write_bytes(png())
        for function in ("PIL.ImageOps.exif_transpose", "PIL.Image.open"):
            monkeypatch.setattr(function, raising(error))
            with pytest.raises(type(error)):
                read_picture(str(path))

    @EACH
    def test_workbook_reader_raises_infrastructure_errors(
        self, error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from openpyxl import Workbook  # type: ignore[import-untyped]

        path = tmp_path / "a.xlsx"
        Workbook().save(path)
        parameters = {"path": "/a.xlsx", "file_type": "xlsx", "file_content": "last_row"}
        monkeypatch.setattr("openpyxl.load_workbook", raising(error))
        with pytest.raises(type(error)):
            ContentFromVmFile().read([Blob(name="/a.xlsx", data=path.read_bytes())], parameters, tmp_path)

    @EACH
    def test_package_and_tag_readers_raise_infrastructure_errors(
        self, error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = save(tmp_path / "a.docx", p("x"))
        monkeypatch.setattr("tinytag.TinyTag.get", raising(error))
        with pytest.raises(type(error)):
            check_mp3_meta(path, {"title": {"method": "eq", "ref": "x"}})
        monkeypatch.setattr("zipfile.ZipFile", raising(error))
        with pytest.raises(type(error)):
            check_package(path)


class TestMemory:
    """With real limits: lxml reports lack of memory as a syntax error."""

    def read(self, path: str, mebibytes: int) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-c", LITTLE, path, str(mebibytes)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    def test_a_document_for_which_there_is_no_memory(self, tmp_path: Path) -> None:
        path = tmp_path / "b.docx"
        with zipfile.ZipFile(save(tmp_path / "a.docx", p("x"))) as old, zipfile.ZipFile(path, "w") as new:
            for name in old.namelist():
                data = old.read(name)
                many = data.replace(b"<w:body>", b"<w:body>" + b"<w:p/>" * 4_000_000)
                new.writestr(name, many if name == "word/document.xml" else data)
        done = self.read(str(path), 400)
        assert done.returncode != 0
        assert "damaged" not in done.stdout
        assert "Memory" in done.stderr or "XMLSyntaxError" in done.stderr
