"""Set-up steps that need a desktop: open, wallpaper, download, recording."""

import http.server
import io
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from PIL import Image

from backend.domain.errors import GuestRefused
from tests.integration.guest_server.session import RunningSession
from tests.waiting import until

pytestmark = pytest.mark.desktop


class TestOpenFile:
    def test_returns_when_its_window_is_there(self, clean: RunningSession) -> None:
        path = clean.write("open me.txt", "x")
        clean.desktop.open_file(str(path))
        assert "open me.txt" in clean.desktop.windows()[-1].title

    def test_picture_opens_in_its_viewer(self, clean: RunningSession) -> None:
        Image.new("RGB", (50, 50), "red").save(clean.home / "picture.png")
        clean.desktop.open_file("~/picture.png")
        assert "picture.png" in clean.desktop.windows()[-1].title

    def test_the_name_of_a_program(self, clean: RunningSession) -> None:
        clean.desktop.open_file("galculator")
        assert clean.desktop.windows()[-1].wm_class == "galculator.Galculator"

    def test_opening_an_open_file_again(self, clean: RunningSession) -> None:
        path = clean.write("again.txt", "x")
        clean.desktop.open_file(str(path))
        clean.desktop.open_file(str(path))
        assert "again.txt" in clean.desktop.windows()[-1].title

    def test_missing_file_is_refused(self, session: RunningSession) -> None:
        with pytest.raises(GuestRefused) as caught:
            session.desktop.open_file("~/nothing.txt")
        assert caught.value.kind == "not_found"

    def test_no_program_for_it(self, session: RunningSession) -> None:
        session.write("strange.xyzzy", b"\x00\x01\x02")
        with pytest.raises(GuestRefused) as caught:
            session.desktop.open_file("~/strange.xyzzy")
        assert caught.value.kind == "failed"

    def test_no_window_in_time(self, clean: RunningSession) -> None:
        response = clean.http.post("/setup/open_file", json={"path": "true", "timeout": 0.5})
        assert (response.status_code, response.json()["error"]) == (504, "timeout")


class TestWallpaper:
    def test_no_wallpaper_at_first(self, session: RunningSession) -> None:
        response = session.http.post("/wallpaper")
        assert (response.status_code, response.json()["error"]) == (404, "not_found")

    def test_is_shown_and_given_back(self, clean: RunningSession) -> None:
        half = Image.new("RGB", (100, 100), (200, 30, 30))
        half.paste((30, 200, 30), (50, 0, 100, 100))
        half.save(clean.home / "wall.png")
        assert clean.post("/setup/change_wallpaper", {"path": "~/wall.png"}).status_code == 200
        with Image.open(io.BytesIO(clean.desktop.screenshot().data)) as shown:
            assert shown.convert("RGB").getpixel((5, 790)) == (200, 30, 30)
            assert shown.convert("RGB").getpixel((1270, 5)) == (30, 200, 30)
        with Image.open(io.BytesIO(clean.post("/wallpaper").content)) as given:
            assert given.tobytes() == half.tobytes()

    @pytest.mark.parametrize(("name", "status"), [("absent.png", 404), ("text.png", 400)])
    def test_a_file_that_is_not_a_picture_is_refused(self, session: RunningSession, name: str, status: int) -> None:
        session.write("text.png", "words")
        assert session.http.post("/setup/change_wallpaper", json={"path": f"~/{name}"}).status_code == status


class TestDownloadWithoutProxy:
    def test_is_not_available_and_says_why(self, session: RunningSession) -> None:
        payload = {"url": "http://127.0.0.1:9/x", "path": "~/x"}
        response = session.http.post("/setup/download_file", json=payload)
        assert (response.status_code, response.json()["error"]) == (501, "not_available")
        assert "no way to the network" in response.json()["message"]
        assert "download" not in session.desktop.probe().capabilities


class AnsweringProxy(http.server.BaseHTTPRequestHandler):
    """Answers in place of the requested servers."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        failing = "fails" in self.path or ("once" in self.path and self.asked.count(self.path) == 1)
        self.send_response(503 if failing else 200)
        self.end_headers()
        self.wfile.write(b"x" * (4000 if "large" in self.path else 10))

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSession]:
    """A session whose egress proxy is ours."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), AnsweringProxy) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        variables = {
            "DESKARENA_EGRESS_PROXY": f"http://127.0.0.1:{server.server_address[1]}",
            "DESKARENA_LIMIT_UPLOAD": "3000",
        }
        with RunningSession(tmp_path_factory.mktemp("proxied"), variables=variables) as started:
            yield started
        server.shutdown()
        thread.join()


class TestDownloadByProxy:
    def test_the_proxy_is_asked(self, proxied: RunningSession) -> None:
        payload = {"url": "http://files.example/a.bin", "path": "~/new/a.bin"}
        assert proxied.post("/setup/download_file", payload).text == "File downloaded: 10 bytes"
        assert (proxied.home / "new/a.bin").read_bytes() == b"x" * 10
        assert AnsweringProxy.asked[-1] == "http://files.example/a.bin"
        assert "download" in proxied.desktop.probe().capabilities

    def test_is_tried_again(self, proxied: RunningSession) -> None:
        proxied.post("/setup/download_file", {"url": "http://files.example/once", "path": "~/once"})
        assert AnsweringProxy.asked.count("http://files.example/once") == 2

    @pytest.mark.parametrize(
        ("url", "kind"),
        [
            ("http://x.example/fails", "refused"),
            ("http://x.example/large", "too_large"),
            ("file:///etc/passwd", "bad_request"),
        ],
    )
    def test_a_failed_download_leaves_no_file(self, proxied: RunningSession, url: str, kind: str) -> None:
        response = proxied.http.post("/setup/download_file", json={"url": url, "path": "~/never"})
        assert response.json()["error"] == kind
        assert not [path for path in proxied.home.iterdir() if path.name.startswith((".download", "never"))]


FFMPEG = """#!/bin/sh
# Stands for ffmpeg: writes its arguments to the file named last, until it is interrupted.
for last; do :; done
trap 'echo ended >> "$last"; exit 255' INT
echo "$@" > "$last"
touch "$HOME/began"
while true; do sleep 0.05; done
"""


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSession]:
    """A session that finds a program called ffmpeg."""
    tools = tmp_path_factory.mktemp("tools")
    program = Path(tools, "ffmpeg")
    program.write_text(FFMPEG)
    program.chmod(0o755)
    variables = {"PATH": f"{tools}:/usr/bin:/bin"}
    with RunningSession(tmp_path_factory.mktemp("recording"), variables=variables) as started:
        yield started


class TestRecording:
    def test_without_ffmpeg_it_is_not_available(self, session: RunningSession) -> None:
        if session.desktop.execute("command -v ffmpeg", shell=True).returncode == 0:  # noqa: S604
            pytest.skip("needs a machine without ffmpeg")
        response = session.http.post("/start_recording")
        assert (response.status_code, response.json()["error"]) == (501, "not_available")

    def test_gives_what_was_recorded(self, recording: RunningSession) -> None:
        assert "recording" in recording.desktop.probe().capabilities
        recording.post("/start_recording")
        again = recording.http.post("/start_recording")
        assert (again.status_code, again.json()["error"]) == (409, "conflict")
        until((recording.home / "began").exists)
        video = recording.post("/end_recording").content.decode()
        assert "-f x11grab" in video
        assert f"-i {recording.ready['display']} " in video
        assert video.endswith("ended\n")

    def test_ending_without_a_recording_is_a_conflict(self, recording: RunningSession) -> None:
        response = recording.http.post("/end_recording")
        assert (response.status_code, response.json()["error"]) == (409, "conflict")
