"""Files that a program writes while they are sent."""

import asyncio
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from guest_server.routes import files


def sent(path: Path) -> bytes:
    """A client's answer about a file."""

    async def handle(request: web.Request) -> web.StreamResponse:
        return await files.send_file(request, path, 100)

    async def ask() -> bytes:
        app = web.Application()
        app.router.add_get("/", handle)
        async with TestClient(TestServer(app)) as client, client.get("/") as response:
            return await response.read()

    return asyncio.run(ask())


@pytest.fixture
def shrinking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that was longer when it was opened."""
    path = tmp_path / "notes.txt"
    path.write_bytes(b"new")
    monkeypatch.setattr(files, "open_regular", lambda path, _: (path.open("rb"), 50))
    return path


class TestSendFile:
    def test_is_sent_as_it_is_now(self, shrinking: Path) -> None:
        assert sent(shrinking) == b"new"

    def test_file_that_shrinks_breaks_the_transfer(self, shrinking: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(files, "AT_ONCE", 1)
        with pytest.raises(aiohttp.ClientError):
            sent(shrinking)
