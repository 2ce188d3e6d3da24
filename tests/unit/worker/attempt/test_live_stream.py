import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Event, Thread
from typing import Any
from uuid import UUID, uuid4

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, unix_serve

from backend.domain.errors import GuestLost
from tests.waiting import until
from worker.attempt import live_stream
from worker.attempt.live_stream import LiveStreamThread

SECRET = "a-secret-of-this-desktop"


class StreamingGuest:
    """The guest's `/stream`: sends a picture whenever the screen changes."""

    def __init__(self, path: Path) -> None:
        self.address = f"unix:{path}"
        self.asked: list[str] = []
        self.refused = 0
        self.open = 0
        self.picture = b"\xff\xd8picture"
        self.silent = False
        self._change = Event()
        self._server = unix_serve(self._serve, str(path))
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def clipboard(self) -> str:
        if self.silent:
            raise GuestLost("no answer", code="guest_timeout")
        return "copied there"

    def change(self) -> None:
        """Something is drawn."""
        self._change.set()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join(60.0)

    def _serve(self, socket: ServerConnection) -> None:
        request = socket.request
        assert request is not None
        if request.headers.get("Authorization") != f"Bearer {SECRET}":
            self.refused += 1
            return
        self.asked.append(request.path)
        self.open += 1
        self._change.set()
        try:
            while True:
                if self._change.wait(0.02):
                    self._change.clear()
                    head = {"type": "frame", "seq": 1, "t": time.time(), "width": 640, "height": 480}
                    socket.send(json.dumps(head))
                    socket.send(self.picture)
                socket.ping()
        except ConnectionClosed:
            self.open -= 1


class FakeViewers:
    """Reports the scripted width of the widest picture; records frames."""

    def __init__(self) -> None:
        self.width = 0
        self.asked = 0
        self.hurry = False
        self.frames: list[tuple[int, bytes, Mapping[str, Any]]] = []
        self.request = ""
        self.clipboards: list[tuple[str, str]] = []

    def clipboard_request(self, attempt_id: UUID) -> str:
        return self.request

    def put_clipboard(self, attempt_id: UUID, request: str, text: str) -> None:
        self.clipboards.append((request, text))

    def watched_width(self, attempt_id: UUID) -> int:
        self.asked += 1
        return self.width

    def hurried(self, attempt_id: UUID) -> bool:
        return self.hurry

    def put_frame(self, attempt_id: UUID, seq: int, jpeg: bytes, meta: Mapping[str, Any]) -> bool:
        self.frames.append((seq, jpeg, meta))
        return True


@pytest.fixture
def guest(tmp_path: Path) -> Iterator[StreamingGuest]:
    made = StreamingGuest(tmp_path / "guest.sock")
    yield made
    made.close()


@pytest.fixture
def viewers() -> FakeViewers:
    return FakeViewers()


@pytest.fixture
def pump(guest: StreamingGuest, viewers: FakeViewers) -> Iterator[LiveStreamThread]:
    made = LiveStreamThread(
        uuid4(), (guest.address, SECRET), viewers, fps=5.0, step=lambda: 3, screen_width=1920, clipboard=guest.clipboard
    )
    yield made
    made.close()
    made.join(60.0)


@pytest.mark.usefixtures("pump")
class TestLivePump:
    def test_no_capture_without_viewers(self, guest: StreamingGuest, viewers: FakeViewers) -> None:
        until(lambda: viewers.asked >= 2)
        assert guest.asked == []

    def test_frames_are_streamed_to_a_viewer(self, guest: StreamingGuest, viewers: FakeViewers) -> None:
        viewers.width = 1920
        until(lambda: viewers.frames)
        guest.change()
        until(lambda: len(viewers.frames) >= 2)
        (seq, jpeg, meta), (later, _, _) = viewers.frames[:2]
        assert (seq, later) == (1, 2)
        assert jpeg == b"\xff\xd8picture"
        assert (meta["step"], meta["width"], meta["height"]) == (3, 640, 480)
        assert abs(meta["captured_at"] - time.time()) < 60.0

    def test_rate_is_requested_from_the_guest(self, guest: StreamingGuest, viewers: FakeViewers) -> None:
        viewers.width = 1920
        until(lambda: guest.asked)
        assert guest.asked[0] == "/stream?fps=5.0&quality=70&scale=1.0"

    def test_frame_has_the_widest_viewers_width(self, guest: StreamingGuest, viewers: FakeViewers) -> None:
        def scale() -> str:
            return guest.asked[-1].rpartition("&scale=")[2] if guest.asked else ""

        for width, wanted in ((480, "0.25"), (960, "0.5"), (16_384, "1.0"), (480, "0.25")):
            viewers.width = width
            until(lambda: scale() == wanted)  # noqa: B023 - called before the next one
        viewers.hurry = True
        until(
            lambda: guest.asked[-1] == "/stream?fps=20.0&quality=70&scale=1.0", what="a person sees the whole picture"
        )

    def test_person_in_control_gets_the_clipboard(self, guest: StreamingGuest, viewers: FakeViewers) -> None:
        viewers.width, viewers.request = 1920, "first"
        until(lambda: viewers.frames)
        assert viewers.clipboards == []
        viewers.hurry = True
        until(lambda: ("first", "copied there") in viewers.clipboards)
        guest.silent = True
        viewers.request = "second"
        seen = len(viewers.frames)
        guest.change()
        until(lambda: len(viewers.frames) > seen, what="the picture goes on without the clipboard")
        assert "second" not in dict(viewers.clipboards)

    def test_stops_when_the_last_viewer_leaves(self, guest: StreamingGuest, viewers: FakeViewers) -> None:
        viewers.width = 1920
        until(lambda: guest.open == 1)
        viewers.width = 0
        until(lambda: guest.open == 0)

    def test_unchanged_frame_is_sent_again(
        self, guest: StreamingGuest, viewers: FakeViewers, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(live_stream, "RENEW_SECONDS", 0.1)
        viewers.width = 1920
        until(lambda: len(viewers.frames) >= 2)
        assert viewers.frames[0][2]["captured_at"] == viewers.frames[1][2]["captured_at"]

    def test_frames_report_last_change_and_last_response(
        self, guest: StreamingGuest, viewers: FakeViewers, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(live_stream, "RENEW_SECONDS", 0.1)
        monkeypatch.setattr(live_stream, "LOOK_SECONDS", 0.05)
        viewers.width = 1920
        until(lambda: viewers.frames)
        first = viewers.frames[0][2]
        until(lambda: viewers.frames[-1][2]["answered_at"] > first["answered_at"] + 0.1)
        later = viewers.frames[-1][2]
        assert (later["picture"], later["changed_at"]) == (1, first["changed_at"])
        guest.picture = b"\xff\xd8another"
        guest.change()
        until(lambda: viewers.frames[-1][2]["picture"] == 2)
        assert viewers.frames[-1][2]["changed_at"] > first["changed_at"]


class TestTrouble:
    def test_wrong_secret_streams_nothing_and_does_not_raise(self, guest: StreamingGuest, viewers: FakeViewers) -> None:
        viewers.width = 1920
        pump = LiveStreamThread(uuid4(), (guest.address, "wrong"), viewers, fps=5.0, step=lambda: 0, screen_width=9)
        until(lambda: guest.refused >= 1)
        pump.close()
        pump.join(60.0)
        assert viewers.frames == []

    def test_missing_guest_does_not_raise(self, tmp_path: Path, viewers: FakeViewers) -> None:
        viewers.width = 1920
        pump = LiveStreamThread(
            uuid4(), (f"unix:{tmp_path}/none", SECRET), viewers, fps=5.0, step=lambda: 0, screen_width=9
        )
        until(lambda: viewers.asked >= 2)
        pump.close()
        pump.join(60.0)
        assert viewers.frames == []
