"""A page's mouse and keyboard on the way to the worker."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import Observation
from backend.services import events
from backend.services.attempts import attempts
from backend.services.people import human_agent
from backend.services.scheduling.claims import Claim
from backend.web.socket_lifetime import ENDED, GONE
from tests.factories.records import World, capabilities
from tests.integration.web.conftest import OWN, client_of
from tests.waiting import until
from worker.attempt.takeover_client import TakeoverClient

WS = OWN.replace("http", "ws")
CLICK = {"type": "CLICK", "x": 3, "y": 4}
SEEN = Observation(index=0)


@pytest.fixture
def broker(redis_url: str) -> None:
    """With the private broker of this test process."""
    events.configure(redis_url)


@contextmanager
def page(client: TestClient, claim: Claim, hand: str = "a-page-of-mine") -> Iterator[Any]:
    with client.websocket_connect(f"{WS}/ws/attempts/{claim.attempt_id}/control?client={hand}") as socket:
        yield socket


def told(socket: Any, kind: str, **values: Any) -> dict[str, Any]:
    """The next message of that kind with these values."""
    for _ in range(50):
        message: dict[str, Any] = socket.receive_json()
        if message["kind"] == kind and all(message[name] == value for name, value in values.items()):
            return message
    raise AssertionError(f"no {kind} with {values}")


@pytest.fixture
def acting(installation: World) -> Claim:
    """An agent's attempt under way."""
    installation.submit("noop")
    claim = installation.must_claim(installation.worker("w2"))
    installation.do(attempts.enter_running, claim.fence, {})
    return claim


@pytest.fixture
def playing(installation: World) -> Claim:
    """A person's attempt under way."""
    able = capabilities()
    able["agents"]["human"] = {**able["agents"]["noop"], "human": True}
    worker = installation.worker("w2", capabilities=able)
    run = installation.submit("human")
    episode = installation.do(human_agent.desk, run.id).episode
    installation.do(human_agent.begin, run.id, episode.id, feasible=True)
    claim = installation.must_claim(worker)
    installation.do(attempts.enter_running, claim.fence, {})
    return claim


@pytest.mark.usefixtures("broker")
class TestClipboard:
    def test_the_controller_gets_the_text_of_the_desktop(
        self, installation: World, playing: Claim, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = playing.attempt_id
        with page(client_of(installation, tmp_path), playing) as socket:
            told(socket, "state", in_control=True, state="running")
            socket.send_json({"kind": "copy"})
            until(lambda: events.clipboard_request(asked), what="the worker hears of it")
            socket.send_json({"kind": "copy"})
            assert told(socket, "rejected")["code"] == "busy"
            events.put_clipboard(asked, events.clipboard_request(asked), "<b>copied</b>" + "x" * 200_000)
            assert told(socket, "clipboard")["text"] == ("<b>copied</b>" + "x" * 200_000)[:100_000]
            assert events.clipboard_request(asked) == ""
            monkeypatch.setattr("backend.services.events.clipboard.ANSWER_SECONDS", 0.2)
            socket.send_json({"kind": "copy"})
            assert told(socket, "rejected")["code"] == "clipboard_unreadable"

    def test_others_cannot_read_the_clipboard(self, installation: World, acting: Claim, tmp_path: Path) -> None:
        with page(client_of(installation, tmp_path), acting) as socket:
            told(socket, "state", in_control=False)
            socket.send_json({"kind": "copy"})
            assert told(socket, "rejected")["code"] == "not_in_control"
            assert events.clipboard_request(acting.attempt_id) == ""


@pytest.mark.sampled(5)
@pytest.mark.usefixtures("broker")
class TestControl:
    def test_take_over_act_hand_back(self, installation: World, acting: Claim, tmp_path: Path) -> None:
        control = TakeoverClient(acting.attempt_id, ScreenSize())
        assert not control.is_active()
        with page(client_of(installation, tmp_path), acting) as socket:
            told(socket, "state", in_control=False, controlled=False)
            socket.send_json({"kind": "act", "n": 1, "actions": [CLICK]})
            assert told(socket, "rejected", n=1)["code"] == "not_in_control"
            socket.send_json({"kind": "take_over"})
            told(socket, "state", in_control=True, state="running")
            assert control.is_active()
            until(lambda: events.hurried(acting.attempt_id), what="the picture hurries")
            socket.send_json({"kind": "act", "n": 2, "actions": [CLICK]})
            decision = control.decide(SEEN, 10.0)
            assert decision is not None
            assert (decision.actions[0].x, decision.by) == (3, "person")
            socket.send_json({"kind": "hand_back"})
            told(socket, "state", in_control=False, controlled=False)
            assert not control.is_active()

    def test_invalid_input_is_not_passed_on(self, installation: World, acting: Claim, tmp_path: Path) -> None:
        with page(client_of(installation, tmp_path), acting) as socket:
            socket.send_json({"kind": "take_over"})
            told(socket, "state", in_control=True)
            for number, actions in enumerate(
                ([{"type": "PYTHON", "text": "1"}], [{"type": "DONE"}], [{**CLICK, "x": 99_999}], "CLICK", None)
            ):
                socket.send_json({"kind": "act", "n": number, "actions": actions})
                assert told(socket, "rejected", n=number)["code"] == "invalid_action"
            for text in ("no json", "[]", '{"kind": "shutdown"}'):
                socket.send_text(text)
                told(socket, "rejected")
        assert TakeoverClient(acting.attempt_id, ScreenSize()).decide(SEEN, 0.1) is None

    def test_only_one_page_is_in_control(self, installation: World, acting: Claim, tmp_path: Path) -> None:
        client = client_of(installation, tmp_path)
        with page(client, acting, "first-page") as first, page(client, acting, "second-page") as second:
            first.send_json({"kind": "take_over"})
            told(first, "state", in_control=True)
            second.send_json({"kind": "take_over"})
            told(second, "state", in_control=False, controlled=True)
            second.send_json({"kind": "act", "n": 1, "actions": [CLICK]})
            assert told(second, "rejected", n=1)["code"] == "controlled_by_other"

    def test_reloaded_page_stays_in_control(self, installation: World, acting: Claim, tmp_path: Path) -> None:
        client = client_of(installation, tmp_path)
        with page(client, acting) as socket:
            socket.send_json({"kind": "take_over"})
            told(socket, "state", in_control=True)
        with page(client, acting) as socket:
            told(socket, "state", in_control=True)

    def test_a_take_over_outlives_a_hiccup_of_the_broker(
        self, installation: World, acting: Claim, tmp_path: Path, redis_url: str
    ) -> None:
        with page(client_of(installation, tmp_path), acting) as socket:
            socket.send_json({"kind": "take_over"})
            told(socket, "state", in_control=True)
            events.configure("")
            told(socket, "state", in_control=False)
            events.configure(redis_url)
            told(socket, "state", in_control=True)

    def test_too_many_messages_are_rejected(
        self, installation: World, acting: Claim, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(
            "backend.web.people.takeover_socket.RATE", 0.001
        )  # On a slow machine 60 are not much at once.
        with page(client_of(installation, tmp_path), acting) as socket:
            for number in range(60):
                socket.send_json({"kind": "act", "n": number, "actions": [CLICK]})
            for _ in range(60):
                if told(socket, "rejected")["code"] == "rate_limit":
                    return
        raise AssertionError("nothing was rejected")

    def test_oversized_message_closes_the_socket(self, installation: World, acting: Claim, tmp_path: Path) -> None:
        with page(client_of(installation, tmp_path), acting) as socket:
            socket.send_text("x" * 70_000)
            with pytest.raises(WebSocketDisconnect) as ended:
                told(socket, "never")
        assert ended.value.code == 1009

    def test_socket_closes_when_the_attempt_ends(self, installation: World, acting: Claim, tmp_path: Path) -> None:
        installation.lose(acting)
        with (
            page(client_of(installation, tmp_path), acting) as socket,
            pytest.raises(WebSocketDisconnect) as ended,
        ):
            socket.receive_json()
        assert ended.value.code == ENDED

    def test_a_person_s_page_takes_the_desktop_again_after_the_broker_was_away(
        self, installation: World, playing: Claim, tmp_path: Path, redis_url: str
    ) -> None:
        with page(client_of(installation, tmp_path), playing) as socket:
            told(socket, "state", in_control=True)
            events.configure("")
            told(socket, "state", in_control=False, controlled=False)
            socket.send_json({"kind": "act", "n": 1, "actions": [CLICK]})
            assert told(socket, "rejected", n=1)["code"] == "unavailable"
            events.configure(redis_url)
            told(socket, "state", in_control=True)

    def test_a_person_s_second_page_gets_the_desktop_once_the_first_is_closed(
        self, installation: World, playing: Claim, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("backend.services.people.takeover_store.HAND_SECONDS", 4.0)
        client = client_of(installation, tmp_path)
        with page(client, playing, "first-page") as first:
            told(first, "state", in_control=True)
            with page(client, playing, "second-page") as second:
                told(second, "state", in_control=False, controlled=True)
                first.close()
                told(second, "state", in_control=True)

    def test_unknown_attempt_closes_the_socket(self, installation: World, tmp_path: Path) -> None:
        client = client_of(installation, tmp_path)
        address = f"{WS}/ws/attempts/{uuid4()}/control?client=a-page-of-mine"
        with client.websocket_connect(address) as socket, pytest.raises(WebSocketDisconnect) as gone:
            socket.receive_json()
        assert gone.value.code == GONE

    def test_a_page_of_another_site_gets_nothing(self, installation: World, acting: Claim, tmp_path: Path) -> None:
        client = client_of(installation, tmp_path)
        address = f"{WS}/ws/attempts/{acting.attempt_id}/control?client=a-page-of-mine"
        headers = {"Origin": "http://evil.example"}
        with pytest.raises(WebSocketDisconnect), client.websocket_connect(address, headers=headers):
            pass
