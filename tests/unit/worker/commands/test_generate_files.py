"""Files that a model writes: asked once, checked, and part of the version that is imported then."""

import io
import json
import shutil
from pathlib import Path

import pytest
from openpyxl import load_workbook  # type: ignore[import-untyped]

from backend.domain.benchmarks import lint
from backend.domain.errors import Invalid
from backend.domain.file_generators import FileRequest, write
from backend.domain.setup import run_step
from tests.error_codes import raises_code
from tests.factories.desktops import linux
from tests.factories.models import client, endpoint
from tests.factories.suites import SAMPLES, read
from worker.commands.generate_files import main, orders, write_files

LOANS = {
    "sheets": [{"name": "借阅", "headings": ["读者", "书名"], "rows": [["王伟", "海底两万里"], ["李娜", "红楼梦"]]}]
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of our sample."""
    return shutil.copytree(SAMPLES / "windowsworld", tmp_path / "tasks")


def cassette(tmp_path: Path, *replies: str) -> Path:
    file = tmp_path / "replies.jsonl"
    file.write_text("".join(json.dumps({"reply": reply}) + "\n" for reply in replies))
    return file


class TestWriteFiles:
    def test_a_file_is_written_once_and_imported_as_an_asset(self, folder: Path, tmp_path: Path) -> None:
        before = read("windowsworld", folder)
        assert [order.name for _, order in orders(before)] == ["借阅表.xlsx"]  # The log is empty, by its description.
        speaker = client(endpoint("recorded", cassette=cassette(tmp_path, f"```json\n{json.dumps(LOANS)}\n```")))
        assert write_files(before, folder, speaker, "model-1") == (1, [])
        assert write_files(before, folder, speaker, "model-1") == (0, [])
        after = read("windowsworld", folder)
        assert after.content_hash() != before.content_hash()
        step = after.tasks[0].setup[0]
        assert step.parameters["asset"].startswith("asset:generated/")
        assert lint(after.tasks[0], after.assets) == []
        context = linux()
        context.assets = dict(after.assets)
        run_step(context, step.type, step.parameters)
        (made,) = context.desktop.files.values()
        assert [row[0] for row in load_workbook(io.BytesIO(made)).active.values] == ["读者", "王伟", "李娜"]

    def test_invalid_reply_is_reported_and_skipped(self, folder: Path, tmp_path: Path) -> None:
        speaker = client(endpoint("recorded", cassette=cassette(tmp_path, "I would rather not.")))
        written, failed = write_files(read("windowsworld", folder), folder, speaker, "model-1")
        assert (written, len(failed)) == (0, 1)
        assert "not JSON" in failed[0]

    def test_checkout_is_refused_and_nothing_is_written(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main([str(folder.parent), "--endpoint", "nobody", "--model", "m"]) == 2
        assert "there is no benchmark.json" in capsys.readouterr().err
        assert list(folder.parent.iterdir()) == [folder]

    def test_unknown_endpoint_is_reported(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main([str(folder), "--endpoint", "nobody", "--model", "m"]) == 2
        assert "nobody" in capsys.readouterr().err


class TestWrite:
    @pytest.mark.parametrize(
        ("kind", "reply", "said"),
        [
            ("xlsx", {"sheets": [{"headings": ["a", "b"], "rows": [["1"]]}]}, "not as wide"),
            ("xlsx", {"sheets": []}, "table is wrong"),
            ("docx", {"sections": []}, "text is wrong"),
            ("docx", {"title": "x" * 5000}, "text is wrong"),
        ],
    )
    def test_invalid_replies_are_rejected(self, kind: str, reply: object, said: str, tmp_path: Path) -> None:
        speaker = client(endpoint("recorded", cassette=cassette(tmp_path, json.dumps(reply))))
        with raises_code(Invalid, "invalid_model_answer", mentions=said):
            write(kind, FileRequest(f"a.{kind}", ("x",)), speaker, "model-1")

    def test_writes_a_text_file(self, tmp_path: Path) -> None:
        reply = {"title": "Plan", "sections": [{"heading": "Goals", "paragraphs": ["One."]}], "items": ["1. Call"]}
        speaker = client(endpoint("recorded", cassette=cassette(tmp_path, json.dumps(reply))))
        assert write("txt", FileRequest("a.txt", ("x",)), speaker, "m").decode() == "Plan\nGoals\nOne.\n1. Call\n"
