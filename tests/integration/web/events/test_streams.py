import json
import time
from pathlib import Path
from uuid import uuid4

import pytest
from starlette.websockets import WebSocketDisconnect

from backend.services import events
from backend.services.scheduling import claims
from backend.web.socket_lifetime import ENDED, GONE
from tests.factories.claims import LIMITED
from tests.factories.records import World
from tests.integration.web.conftest import OWN, client_of
from tests.waiting import until

# The test client names another host for websockets unless it is told the whole address.
WS = OWN.replace("http", "ws")


@pytest.fixture
def broker(redis_url: str) -> None:
    """With the private broker of this test process."""
    events.configure(redis_url)


class TestRunEvents:
    def test_missed_events_come_first(self, installation: World, tmp_path: Path) -> None:
        run = installation.submit("noop")
        with client_of(installation, tmp_path).websocket_connect(f"{WS}/ws/runs/{run.id}/events?after=0") as socket:
            first = socket.receive_json()
        assert (first["seq"], first["kind"]) == (1, "run_submitted")

    def test_events_arrive_without_a_broker(self, installation: World, tmp_path: Path) -> None:
        run = installation.submit("noop")
        client = client_of(installation, tmp_path)
        with client.websocket_connect(f"{WS}/ws/runs/{run.id}/events") as socket:
            client.post(f"/api/v1/runs/{run.id}/pause")
            assert socket.receive_json()["kind"] == "run_state"

    @pytest.mark.usefixtures("broker")
    def test_broker_delivers_events_immediately(self, installation: World, tmp_path: Path) -> None:
        run = installation.submit("noop")
        client = client_of(installation, tmp_path)
        with client.websocket_connect(f"{WS}/ws/runs/{run.id}/events?after=0") as socket:
            assert socket.receive_json()["seq"] == 1
            for word in ("pause", "resume"):
                client.post(f"/api/v1/runs/{run.id}/{word}")
            assert [socket.receive_json()["seq"] for _ in range(2)] == [2, 3]

    def test_unknown_run_closes_the_socket(self, installation: World, tmp_path: Path) -> None:
        client = client_of(installation, tmp_path)
        with (
            client.websocket_connect(f"{WS}/ws/runs/{uuid4()}/events") as socket,
            pytest.raises(WebSocketDisconnect) as gone,
        ):
            socket.receive_json()
        assert gone.value.code == GONE


class TestWaits:
    def test_pages_hear_when_an_attempt_waits_for_its_model(self, installation: World, tmp_path: Path) -> None:
        worker = installation.worker("w2")
        run = installation.submit("noop")
        claim = installation.must_claim(worker)
        client = client_of(installation, tmp_path)
        with (
            client.websocket_connect(f"{WS}/ws/runs/{run.id}/events") as of_run,
            client.websocket_connect(f"{WS}/ws/events") as of_all,
        ):
            installation.do(claims.worker_heartbeat, worker.id, [claim.lease_id], {claim.lease_id: LIMITED})
            assert of_run.receive_json() == {"kind": "waits"}
            assert of_all.receive_json()["kind"] == "changed"


class TestBeats:
    def test_idle_connection_sends_keepalives(
        self, installation: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("backend.web.socket_lifetime.BEAT_SECONDS", 0.05)
        run = installation.submit("noop")
        claim = installation.must_claim(installation.worker("w2"))
        client = client_of(installation, tmp_path)
        for path in (f"runs/{run.id}/events", "events", f"attempts/{claim.attempt_id}/live"):
            with client.websocket_connect(f"{WS}/ws/{path}") as socket:
                assert socket.receive_json() == {"kind": "beat"}


class TestAllEvents:
    def test_a_sign_when_a_worker_registers(self, installation: World, tmp_path: Path) -> None:
        with client_of(installation, tmp_path).websocket_connect(f"{WS}/ws/events") as socket:
            installation.worker("w9", node="n9")
            assert socket.receive_json()["kind"] == "changed"

    def test_a_sign_when_something_happens_anywhere(self, installation: World, tmp_path: Path) -> None:
        with client_of(installation, tmp_path).websocket_connect(f"{WS}/ws/events") as socket:
            installation.submit("noop")
            assert socket.receive_json()["kind"] == "changed"


@pytest.mark.usefixtures("broker")
class TestLive:
    def test_slow_viewer_gets_the_newest_frame(self, installation: World, tmp_path: Path) -> None:
        installation.submit("noop")
        claim = installation.must_claim(installation.worker("w2"))
        client = client_of(installation, tmp_path)
        assert events.watched_width(claim.attempt_id) == 0
        with client.websocket_connect(f"{WS}/ws/attempts/{claim.attempt_id}/live") as socket:
            until(lambda: events.watched_width(claim.attempt_id) > 0, what="the worker knows that somebody watches")
            meta = {"captured_at": time.time(), "step": 3}
            events.put_frame(claim.attempt_id, 1, b"\xff\xd8one", meta)
            head, _, picture = socket.receive_bytes().partition(b"\n")
            assert (json.loads(head)["seq"], json.loads(head)["step"], picture) == (1, 3, b"\xff\xd8one")
            assert 0 <= json.loads(head)["age_ms"] < 60_000
            for number in range(2, 31):
                events.put_frame(claim.attempt_id, number, b"\xff\xd8%d" % number, meta)
            numbers: list[int] = []
            while not numbers or numbers[-1] < 30:
                socket.send_text("next")
                head, _, picture = socket.receive_bytes().partition(b"\n")
                numbers.append(json.loads(head)["seq"])
                assert picture == b"\xff\xd8%d" % numbers[-1]
            assert len(numbers) <= 3, "a slow viewer skips frames"

    def test_an_unchanged_screen_is_not_sent_again(self, installation: World, tmp_path: Path) -> None:
        installation.submit("noop")
        claim = installation.must_claim(installation.worker("w2"))
        client = client_of(installation, tmp_path)
        now = time.time()
        meta = {"captured_at": now - 20, "changed_at": now - 20, "answered_at": now - 1, "picture": 7, "step": 3}
        with client.websocket_connect(f"{WS}/ws/attempts/{claim.attempt_id}/live") as socket:
            messages = []
            for number in (1, 2):
                events.put_frame(claim.attempt_id, number, b"\xff\xd8one", meta)
                messages.append(socket.receive_bytes().partition(b"\n"))
                socket.send_text("next")
        assert [picture for _, _, picture in messages] == [b"\xff\xd8one", b""]
        head = json.loads(messages[1][0])
        assert 20_000 <= head["unchanged_ms"] < 80_000
        assert 1000 <= head["answered_ms"] < 20_000

    def test_boot_frames_are_shown_before_the_desktop(self, installation: World, tmp_path: Path) -> None:
        installation.submit("noop")
        claim = installation.must_claim(installation.worker("w2"))
        client = client_of(installation, tmp_path)
        with client.websocket_connect(f"{WS}/ws/attempts/{claim.attempt_id}/live") as socket:
            for number in (-999_999, 1):
                events.put_frame(claim.attempt_id, number, b"\xff\xd8one", {"step": 0})
                head, _, _ = socket.receive_bytes().partition(b"\n")
                assert json.loads(head)["seq"] == number
                socket.send_text("next")

    def test_disconnected_viewer_is_not_counted(self, installation: World, tmp_path: Path) -> None:
        """Even where no frame ever came: the worker would capture for nobody."""
        installation.submit("noop")
        claim = installation.must_claim(installation.worker("w2"))
        with client_of(installation, tmp_path).websocket_connect(f"{WS}/ws/attempts/{claim.attempt_id}/live"):
            until(lambda: events.watched_width(claim.attempt_id) > 0, what="the worker knows that somebody watches")
        until(lambda: events.watched_width(claim.attempt_id) == 0, 20, what="nobody watches any more")

    def test_socket_closes_when_the_attempt_ends(self, installation: World, tmp_path: Path) -> None:
        installation.submit("noop")
        claim = installation.must_claim(installation.worker("w2"))
        with client_of(installation, tmp_path).websocket_connect(f"{WS}/ws/attempts/{claim.attempt_id}/live") as socket:
            installation.lose(claim)
            with pytest.raises(WebSocketDisconnect) as gone:
                socket.receive_bytes()
        assert gone.value.code == ENDED

    def test_unknown_attempt_closes_the_socket(self, installation: World, tmp_path: Path) -> None:
        client = client_of(installation, tmp_path)
        with (
            client.websocket_connect(f"{WS}/ws/attempts/{uuid4()}/live") as socket,
            pytest.raises(WebSocketDisconnect) as gone,
        ):
            socket.receive_bytes()
        assert gone.value.code == GONE
