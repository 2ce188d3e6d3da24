"""The live view's websocket."""

import io
import itertools
import json
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from PIL import Image
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, unix_connect

from tests.integration.guest_server.session import RunningSession

pytestmark = pytest.mark.desktop


@contextmanager
def stream(session: RunningSession, query: str = "", secret: str | None = None) -> Iterator[ClientConnection]:
    headers = {"Authorization": f"Bearer {secret or session.secret}"}
    path = str(session.socket_path)
    with unix_connect(path, f"ws://guest/stream?{query}", additional_headers=headers, max_size=2**24) as connection:
        yield connection


def next_frame(connection: ClientConnection, timeout: float = 10) -> tuple[dict[str, Any], Image.Image]:
    head = json.loads(connection.recv(timeout=timeout))
    assert head["type"] == "frame", head
    data = connection.recv(timeout=timeout)
    assert isinstance(data, bytes)
    image = Image.open(io.BytesIO(data))
    image.load()
    return head, image


def paint(session: RunningSession, colour: str) -> None:
    assert session.desktop.execute(["xsetroot", "-solid", colour]).returncode == 0


class TestStream:
    def test_the_first_picture_comes_at_once(self, clean: RunningSession) -> None:
        with stream(clean) as connection:
            head, image = next_frame(connection)
        assert (head["seq"], head["width"], head["height"]) == (1, 1280, 800)
        assert image.size == (1280, 800)
        assert abs(head["t"] - time.time()) < 60

    def test_unchanged_screen_sends_nothing(self, clean: RunningSession) -> None:
        clean.get("/stable", quiet=0.5)
        with stream(clean, "fps=20") as connection:
            next_frame(connection)
            with pytest.raises(TimeoutError):
                connection.recv(timeout=1.0)

    def test_each_change_is_sent_with_the_next_number(self, clean: RunningSession) -> None:
        clean.get("/stable", quiet=0.5)
        with stream(clean, "fps=20") as connection:
            last = next_frame(connection)[0]["seq"]
            for channel, colour in enumerate(("#ff0000", "#00ff00")):
                paint(clean, colour)
                strength = 0
                while strength <= 240:  # A frame may catch the server in the middle of painting; the next one has it.
                    head, image = next_frame(connection)
                    assert head["seq"] == last + 1
                    last = head["seq"]
                    pixel = image.getpixel((10, 10))
                    assert isinstance(pixel, tuple)
                    strength = pixel[channel]
        paint(clean, "#2e5d7d")

    def test_the_rate_is_kept(self, clean: RunningSession) -> None:
        clean.desktop.launch('for i in $(seq 400); do xsetroot -solid "#$(printf %06x $i)"; done', shell=True)  # noqa: S604
        with stream(clean, "fps=4") as connection:
            times = [next_frame(connection)[0]["t"] for _ in range(5)]
        gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
        assert min(gaps) > 0.15
        clean.signal_own(signal.SIGTERM, "xsetroot")
        clean.get("/stable", quiet=0.5)
        paint(clean, "#2e5d7d")

    def test_size_and_rate_can_change_at_any_time(self, clean: RunningSession) -> None:
        with stream(clean, "scale=0.5") as connection:
            assert next_frame(connection)[1].size == (640, 400)
            connection.send(json.dumps({"type": "rate", "scale": 0.25, "quality": 30}))
            head, image = next_frame(connection)
        assert (head["seq"], image.size) == (2, (320, 200))

    def test_input_on_the_way_back(self, clean: RunningSession) -> None:
        clean.input({"type": "move", "x": 1, "y": 1})
        with stream(clean, "fps=1") as connection:
            next_frame(connection)
            connection.send(json.dumps({"type": "input", "id": 7, "events": [{"type": "move", "x": 77, "y": 88}]}))
            answer = json.loads(connection.recv(timeout=10))
        assert answer == {"type": "answer", "status": "success", "events": 1, "id": 7}
        assert clean.get("/cursor_position").json() == [77, 88]

    @pytest.mark.parametrize(
        ("message", "kind"),
        [
            ("{", "bad_request"),
            ("[]", "bad_request"),
            ('{"type": "dance"}', "bad_request"),
            ('{"type": "rate", "fps": 1000}', "bad_request"),
            ('{"type": "input", "events": [{"type": "press", "key": "nokey"}]}', "unknown_key"),
        ],
    )
    def test_a_wrong_message_is_answered_and_the_view_continues(
        self, clean: RunningSession, message: str, kind: str
    ) -> None:
        with stream(clean, "fps=20") as connection:
            next_frame(connection)
            connection.send(message)
            answer = json.loads(connection.recv(timeout=10))
            assert (answer["type"], answer["error"]) == ("answer", kind)
            paint(clean, "#445566")
            next_frame(connection)
        paint(clean, "#2e5d7d")

    def test_viewers_get_their_own_scale(self, clean: RunningSession) -> None:
        with stream(clean) as first, stream(clean, "scale=0.5") as second:
            assert next_frame(first)[1].size == (1280, 800)
            assert next_frame(second)[1].size == (640, 400)

    @pytest.mark.parametrize("query", ["fps=0", "fps=1000", "quality=x", "scale=2"])
    def test_wrong_parameters_are_refused_before_the_upgrade(self, session: RunningSession, query: str) -> None:
        with pytest.raises(InvalidStatus) as caught, stream(session, query):
            pass
        assert caught.value.response.status_code == 400
