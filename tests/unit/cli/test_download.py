"""A service that cannot be trusted writes nothing outside of the folder."""

import io
import tarfile
from pathlib import Path

import httpx
import pytest

from backend.cli.client import Api
from backend.cli.download import ExportDownload
from backend.cli.errors import CliError, UsageError
from tests.error_codes import raises_code


def archive(*names: str, kind: bytes = tarfile.REGTYPE) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as made:
        for name in names:
            info = tarfile.TarInfo(name)
            info.type, info.size, info.linkname = kind, 2 if kind == tarfile.REGTYPE else 0, "/etc/passwd"
            made.addfile(info, io.BytesIO(b"{}"))
    return out.getvalue()


def receive(data: bytes, out: Path) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=data))
    with Api("http://127.0.0.1:1", "", transport) as api:
        ExportDownload(api, out, {"format": "jsonl"}, jobs=1).run()


@pytest.mark.parametrize(
    "name", ["../evil", "/etc/evil", "data/../../evil", "data/part-1.jsonl", "index.jsonl.new", "images/a.png"]
)
def test_foreign_names_are_refused(name: str, tmp_path: Path) -> None:
    with raises_code(CliError, "export_damaged"):
        receive(archive(name), tmp_path / "out")
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "export.json"]


def test_a_link_is_refused(tmp_path: Path) -> None:
    with raises_code(CliError, "export_damaged"):
        receive(archive("index.jsonl", kind=tarfile.SYMTYPE), tmp_path / "out")


@pytest.mark.parametrize("data", [b"", b"nonsense" * 100, archive("index.jsonl")])
def test_incomplete_archives_are_reported(data: bytes, tmp_path: Path) -> None:
    with raises_code(CliError, "connection_lost"):
        receive(data, tmp_path / "out")


def test_a_refused_download_leaves_no_folder(tmp_path: Path) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(422, json={"detail": "no such form"}))
    with Api("http://127.0.0.1:1", "", transport) as api, raises_code(UsageError, "unexpected_answer"):
        ExportDownload(api, tmp_path / "out", {"format": "jsonl"}, jobs=1).run()
    assert not (tmp_path / "out").exists()
