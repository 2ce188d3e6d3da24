import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import Invalid, NotFound, Unavailable
from tests.error_codes import raises_code
from worker.images.windows.catalog import Program
from worker.images.windows.fetch import fetch, installers, missing

DATA = b"an installer"
HASH = hashlib.sha256(DATA).hexdigest()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def maker(tmp_path: Path) -> Iterator[str]:
    """A maker's server that offers `editor.exe`."""
    folder = tmp_path / "maker"
    folder.mkdir()
    (folder / "editor.exe").write_bytes(DATA)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def program(**changed: Any) -> Program:
    known = {"id": "editor", "name": "Editor", "version": "1", "sets": ["mine"], "licence": "free"}
    return Program.model_validate(known | {"file": "editor.exe", "there": "C:\\editor.exe"} | changed)


class TestFetch:
    def test_keeps_what_has_the_right_hash(self, maker: str, tmp_path: Path) -> None:
        fetch(f"{maker}/editor.exe", tmp_path / HASH, HASH)
        assert (tmp_path / HASH).read_bytes() == DATA

    def test_keeps_nothing_else(self, maker: str, tmp_path: Path) -> None:
        with raises_code(Invalid, "checksum_mismatch", mentions=("sha256", str(HASH), "000")):
            fetch(f"{maker}/editor.exe", tmp_path / "x", "0" * 64)
        assert not list(tmp_path.glob("x*"))

    def test_says_what_a_server_did_not_give(self, maker: str, tmp_path: Path) -> None:
        with raises_code(Unavailable, "download_failed", mentions="404"):
            fetch(f"{maker}/none.exe", tmp_path / "x", HASH)
        assert not list(tmp_path.glob("x*"))


class TestInstallers:
    def test_takes_what_the_user_brings_and_notes_its_hash(self, tmp_path: Path) -> None:
        (tmp_path / "editor.exe").write_bytes(DATA)
        result = installers([program()], tmp_path, tmp_path / "cache", print)
        assert [(each.path.name, each.sha256) for each in result] == [("editor.exe", HASH)]
        assert result[0].package().sha256 == HASH

    def test_names_each_that_is_missing_with_its_licence(self, tmp_path: Path) -> None:
        with raises_code(NotFound, "file_not_found", mentions="editor.exe"):
            installers([program()], tmp_path, tmp_path / "cache", print)
        assert missing([program()], None) == (program(),)

    def test_refuses_one_with_another_hash(self, tmp_path: Path) -> None:
        (tmp_path / "editor.exe").write_bytes(DATA)
        with raises_code(Invalid, "checksum_mismatch"):
            installers([program(sha256="0" * 64)], tmp_path, tmp_path / "cache", print)

    def test_fetches_each_once(self, tmp_path: Path) -> None:
        (tmp_path / HASH).write_bytes(DATA)
        wanted = program(file="", url="https://example.invalid/editor.exe", sha256=HASH)
        told: list[str] = []
        assert installers([wanted], None, tmp_path, told.append)[0].path == tmp_path / HASH
        assert told == []

    def test_looks_for_the_cd_image_of_a_program_that_has_one(self, tmp_path: Path) -> None:
        (tmp_path / "editor.iso").write_bytes(DATA)
        wanted = program(iso="editor.iso", medium="EDITOR", file="x64\\setup.exe")
        assert installers([wanted], tmp_path, tmp_path / "cache", print)[0].path.name == "editor.iso"
