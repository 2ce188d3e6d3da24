"""`deskarena export trajectories` against a real service: a folder, again after a break, and when the data change."""

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

from backend.cli.client import Api
from backend.cli.download import ExportDownload
from backend.cli.errors import CliError, UsageError
from backend.services import events
from backend.services.export import export as exporting
from backend.services.scheduling import claims
from tests.error_codes import raises_code
from tests.factories.records import World, emptied
from tests.integration.web.conftest import client_of

QUESTION = {"form": "steps", "format": "jsonl"}


class Wire:
    """Carries the command's requests to the application; remembers them, and may break."""

    def __init__(self, app: TestClient) -> None:
        self.app = app
        self.asked: list[str] = []
        self.breaks_at = ""

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.raw_path.decode()
        self.asked.append(path)
        answer = self.app.get(path)
        content = answer.content
        if self.breaks_at and self.breaks_at in path:
            content = content[: len(content) // 2 // 512 * 512]
        return httpx.Response(
            answer.status_code, content=content, headers={"content-type": answer.headers["content-type"]}
        )

    def pictures(self) -> int:
        return sum("/artifacts/" in path for path in self.asked)


@pytest.fixture
def made(shared_database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Three scored episodes, each in its own file of rows."""
    events.configure("")
    monkeypatch.setattr(exporting, "PART", 1)
    with emptied(shared_database) as found:
        found.benchmark()
        worker = found.worker()
        found.submit()
        for number in range(3):
            claim = found.must_claim(worker)
            found.run_to_evaluation(claim, 1)
            found.step(claim, 1, picture=f"\x89PNG {number}".encode())
            found.score_only(claim)
            found.do(claims.release_lease, claim.lease_id, "done")
        yield found


@pytest.fixture
def wire(made: World, tmp_path: Path) -> Wire:
    return Wire(client_of(made, tmp_path / "data"))


def run(wire: Wire, out: Path, **question: str) -> Any:
    with Api("http://127.0.0.1:8000", "", httpx.MockTransport(wire)) as api:
        download = ExportDownload(api, out, {**QUESTION, **question}, jobs=2)
        return download.run()


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class TestRun:
    def test_export_writes_rows_pictures_and_manifest(self, wire: Wire, tmp_path: Path) -> None:
        manifest = run(wire, tmp_path / "out")
        found = contents(tmp_path / "out")
        assert json.loads(found["manifest.json"]) == manifest
        assert manifest["counts"]["trajectories"] == 3
        assert len([name for name in found if name.startswith("data/")]) == 3
        pictures = {name: data for name, data in found.items() if name.startswith("images/")}
        assert len(pictures) == manifest["counts"]["pictures"] == 4
        for name, data in pictures.items():
            assert hashlib.sha256(data).hexdigest() in name

    def test_existing_files_are_not_fetched_again(self, wire: Wire, tmp_path: Path) -> None:
        first = run(wire, tmp_path / "out")
        before = contents(tmp_path / "out")
        wire.asked.clear()
        assert run(wire, tmp_path / "out") == first
        assert wire.pictures() == 0
        assert "from_part=3" in wire.asked[0]
        assert contents(tmp_path / "out") == before

    def test_resumes_after_a_break_in_the_rows(self, wire: Wire, tmp_path: Path) -> None:
        run(wire, tmp_path / "whole")
        wire.breaks_at = "/export"
        with raises_code(CliError, "connection_lost"):
            run(wire, tmp_path / "out")
        assert not (tmp_path / "out" / "manifest.json").exists()
        there = len(list((tmp_path / "out" / "data").glob("part-*")))
        wire.breaks_at = ""
        wire.asked.clear()
        run(wire, tmp_path / "out")
        assert f"from_part={there}" in wire.asked[0]
        assert contents(tmp_path / "out") == contents(tmp_path / "whole")

    def test_resumes_after_a_break_in_the_pictures(self, wire: Wire, tmp_path: Path) -> None:
        wire.breaks_at = "/artifacts/"
        with raises_code(CliError, "export_damaged"):
            run(wire, tmp_path / "out")
        wire.breaks_at = ""
        assert run(wire, tmp_path / "out")["counts"]["pictures"] == 4

    def test_a_picture_that_was_changed_is_fetched_again(self, wire: Wire, tmp_path: Path) -> None:
        run(wire, tmp_path / "out")
        changed = next((tmp_path / "out" / "images").iterdir())
        changed.write_bytes(b"damaged")
        wire.asked.clear()
        run(wire, tmp_path / "out")
        assert wire.pictures() == 1

    def test_rows_that_were_changed_are_fetched_again(self, wire: Wire, tmp_path: Path) -> None:
        run(wire, tmp_path / "out")
        before = contents(tmp_path / "out")
        (tmp_path / "out" / "data" / "part-00001.jsonl").write_text("damaged")
        run(wire, tmp_path / "out")
        assert contents(tmp_path / "out") == before

    def test_too_many_files_of_rows_are_removed(self, wire: Wire, tmp_path: Path) -> None:
        run(wire, tmp_path / "out")
        shutil.copy(tmp_path / "out/data/part-00002.jsonl", tmp_path / "out/data/part-00003.jsonl")
        run(wire, tmp_path / "out")
        assert len(list((tmp_path / "out" / "data").iterdir())) == 3

    def test_other_filters_need_another_folder(self, wire: Wire, tmp_path: Path) -> None:
        run(wire, tmp_path / "out")
        with raises_code(UsageError, "folder_not_empty"):
            run(wire, tmp_path / "out", form="chat")

    def test_a_folder_with_something_else_is_left_alone(self, wire: Wire, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "diary.txt").write_text("mine")
        with raises_code(UsageError, "folder_not_empty"):
            run(wire, tmp_path / "out")
        assert contents(tmp_path / "out") == {"diary.txt": b"mine"}

    def test_pictures_that_the_store_lost_are_counted(self, made: World, wire: Wire, tmp_path: Path) -> None:
        made.store.blobs.clear()
        with Api("http://127.0.0.1:8000", "", httpx.MockTransport(wire)) as api:
            download = ExportDownload(api, tmp_path / "out", QUESTION, jobs=1)
            counts = download.run()["counts"]
        assert download.missing == 4
        assert (counts["pictures"], counts["picture_bytes"], counts["pictures_missing"]) == (0, 0, 4)
