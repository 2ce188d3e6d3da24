from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.rules.written_assertion import written_assertion
from backend.domain.file_generators import FileRequest, make
from backend.domain.formats.program_names import runs, shows
from tests.error_codes import raises_code


def value(expression: str, **seen: Any) -> float:
    return written_assertion({"expression": expression, "files": {}, **seen}).value


def file(path: Path, data: bytes) -> dict[str, Any]:
    path.write_bytes(data)
    return {"files": {"f": [{"path": str(path), "folder": False, "copy": str(path)}]}}


class TestFiles:
    @pytest.mark.parametrize("kind", ["docx", "pdf", "txt", "md", "xlsx"])
    def test_file_contains_reads_every_kind_of_file(self, kind: str, tmp_path: Path) -> None:
        prompts = ("包含标题“Harbour report”和“全部完成”的文档",)
        if kind == "xlsx":
            prompts = ("生成包含姓名、部门列的表格，其中至少2行为‘Harbour部’，列“全部完成”",)
        seen = file(tmp_path / f"a.{kind}", make(kind, FileRequest(f"a.{kind}", prompts)))
        assert value('file_contains("f", "Harbour")', **seen) == 1.0
        assert value('file_contains("f", "Harbor")', **seen) == 0.0

    def test_file_contains_reads_a_single_cell(self, tmp_path: Path) -> None:
        seen = file(tmp_path / "a.xlsx", make("xlsx", FileRequest("a.xlsx", ("A列为姓名，B列为部门，共2行",))))
        assert value('file_contains("f", "姓名", sheet="Sheet1", cell="A1")', **seen) == 1.0
        assert value('file_contains("f", "姓名", sheet="Sheet1", cell="B1")', **seen) == 0.0

    def test_the_size_of_a_picture(self, tmp_path: Path) -> None:
        Image.new("RGB", (80, 60)).save(tmp_path / "p.png")
        seen = file(tmp_path / "a.png", (tmp_path / "p.png").read_bytes())
        assert value('image_dimensions("f") == (80, 60)', **seen) == 1.0
        assert value('image_size_equals("f", 60, 80)', **seen) == 0.0

    def test_assertions_about_absent_files_fail(self) -> None:
        assert value('file_exists("f")', files={"f": []}) == 0.0
        assert value('!file_exists("f")', files={"f": []}) == 1.0


class TestMoments:
    @pytest.mark.parametrize(
        ("wanted", "address", "met"),
        [
            ("https://a.example/search?q=纸", "https://a.example/search?q=%E7%BA%B8", 1.0),
            ("https://a.example/video/*", "https://a.example/video/7", 1.0),
            (r"https://a.example/.*/p/\\d+.html", "https://a.example/x/p/12.html", 1.0),
            ("https://a.example/", "https://b.example/", 0.0),
        ],
    )
    def test_open_address_is_matched(self, wanted: str, address: str, met: float) -> None:
        assert value(f'browser_url_matches("{wanted}")', addresses=[address]) == met

    def test_programs_are_matched_by_any_name(self) -> None:
        assert value('application_running("Word")', processes=["WINWORD.EXE"]) == 1.0
        assert value('application_running("EXCEL.EXE")', processes=["WINWORD.EXE"]) == 0.0

    def test_missing_evidence_gives_no_verdict(self) -> None:
        with raises_code(EvaluatorFailed, "evidence_damaged"):
            value('clipboard_contains("x")')


class TestNames:
    def test_a_window_by_program_title_or_both(self) -> None:
        title = "plan.xlsx - Excel"
        assert shows("Excel", title)
        assert shows("plan.xlsx - Excel", title)
        assert shows("Excel - plan.xlsx", title)
        assert not shows("Word", title)
        assert shows("VS Code", "a.py - Visual Studio Code")
        assert shows("File Explorer", "Documents", ["CabinetWClass"])

    def test_a_process_that_is_in_no_table(self) -> None:
        assert runs("notepad", ["Notepad.exe"])
        assert not runs("notepad", ["notepad2.exe"])
