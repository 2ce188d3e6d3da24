"""Tickets of streams: for clients that cannot send headers, once, for one path, no longer than what they stand for."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select, update
from starlette.testclient import WebSocketDenialResponse
from starlette.websockets import WebSocketDisconnect

from backend.db.models import StreamTicket
from backend.web import security_middleware
from tests.factories.accounts import SERVICE, Team, team
from tests.factories.records import World

SOCKET = "/ws/events"
STREAM = {"Accept": "text/event-stream"}


@pytest.fixture
def people(installation: World, tmp_path: Path) -> Iterator[Team]:
    with team(installation, tmp_path) as made:
        yield made


def ticket_of(client: TestClient, path: str = SOCKET) -> str:
    answer = client.post("/api/v1/stream-tickets", json={"path": path})
    assert answer.status_code == 201, answer.text
    assert answer.headers["cache-control"] == "no-store"
    assert answer.json()["path"] == path
    return str(answer.json()["ticket"])


def opened(client: TestClient, ticket: str, path: str = SOCKET) -> tuple[int, str]:
    """101, or the status and the code with which a websocket is refused."""
    try:
        with client.websocket_connect(f"ws://127.0.0.1:8000{path}?ticket={ticket}"):
            return 101, ""
    except WebSocketDenialResponse as refused:
        return refused.status_code, refused.json()["code"]


def bearer(people: Team, token: str) -> TestClient:
    client = people.browser()
    client.headers["Authorization"] = f"Bearer {token}"
    return client


class TestWebsocket:
    def test_socket_without_ticket_or_cookie_is_refused(self, people: Team) -> None:
        assert opened(people.browser(), "") == (401, "sign_in_required")
        assert opened(people.browser(), "dkt_made-up") == (401, "ticket_invalid")

    def test_a_ticket_opens_one_path_once(self, people: Team) -> None:
        ada, stranger = people.add("ada"), people.browser()
        ticket = ticket_of(ada)
        assert opened(stranger, ticket, "/ws/runs/018f0000-0000-7000-8000-000000000000/events")[0] == 401
        assert opened(stranger, ticket) == (101, "")
        assert opened(stranger, ticket) == (401, "ticket_invalid")
        with people.made.work() as session:
            assert session.scalars(select(StreamTicket)).all() == []

    def test_a_ticket_ends_by_itself_and_is_removed(self, people: Team) -> None:
        ada = people.add("ada")
        ticket = ticket_of(ada)
        with people.made.work() as session:
            row = session.scalars(select(StreamTicket)).one()
            assert ticket not in str(vars(row))
            assert timedelta(0) < row.expires_at - row.created_at <= timedelta(seconds=60)
            session.execute(update(StreamTicket).values(expires_at=func.now()))
        assert opened(people.browser(), ticket) == (401, "ticket_invalid")
        ticket_of(ada)
        with people.made.work() as session:
            assert session.scalars(select(func.count()).select_from(StreamTicket)).one() == 1

    def test_ticket_ends_with_its_session_or_token(self, people: Team) -> None:
        ada = people.add("ada")
        ticket = ticket_of(ada)
        token = ada.post("/api/v1/tokens", json={"name": "wall", "role": "viewer"}).json()
        of_token = ticket_of(bearer(people, token["token"]))
        assert opened(people.browser(), of_token) == (101, "")
        of_token = ticket_of(bearer(people, token["token"]))
        ada.delete(f"/api/v1/tokens/{token['id']}")
        assert opened(people.browser(), of_token)[0] == 401
        ada.post("/logout")
        assert opened(people.browser(), ticket)[0] == 401
        assert opened(people.browser(), ticket_of(bearer(people, SERVICE))) == (101, "")

    @pytest.mark.parametrize("end", ["session", "role"])
    def test_open_stream_ends_with_the_session_or_the_role(
        self, people: Team, monkeypatch: pytest.MonkeyPatch, end: str
    ) -> None:
        monkeypatch.setattr(security_middleware, "RECHECK_SECONDS", 0.0)
        ada, boss = people.add("ada"), people.add("boss", None, admin=True)
        boss.post("/api/v1/projects", json={"name": "other"})
        boss.patch("/api/v1/people/ada", json={"role": "runner"}, headers={"Deskarena-Project": "other"})
        with ada.websocket_connect(f"ws://127.0.0.1:8000{SOCKET}") as socket:
            people.made.submit()
            assert socket.receive_json()["kind"] == "changed"
            if end == "session":
                ada.post("/logout")
            else:  # She has one in the other project still.
                boss.patch("/api/v1/people/ada", json={"role": "none"}, headers={"Deskarena-Project": "default"})
                assert ada.get("/api/v1/runs").json()["items"] == []
            people.made.submit()
            with pytest.raises(WebSocketDisconnect) as closed:
                socket.receive_json()
        assert closed.value.code == 1008

    def test_ticket_gives_no_other_role_or_project(self, people: Team) -> None:
        boss, ada = people.add("boss", None, admin=True), people.add("ada")
        control = "/ws/attempts/018f0000-0000-7000-8000-000000000000/control"
        ticket = ticket_of(ada, control)
        with (
            pytest.raises(WebSocketDisconnect) as closed,
            people.browser().websocket_connect(f"ws://127.0.0.1:8000{control}?ticket={ticket}&client=12345678"),
        ):
            pass
        assert "role" in closed.value.reason
        run = people.made.submit()
        boss.post("/api/v1/projects", json={"name": "other"})
        boss.headers["Deskarena-Project"] = "other"
        path = f"/ws/runs/{run.id}/events"
        ticket = ticket_of(boss, path)
        with people.browser().websocket_connect(f"ws://127.0.0.1:8000{path}?ticket={ticket}") as socket:
            assert socket.receive()["code"] == 4404


class TestEventStream:
    def test_a_ticket_opens_it_once_and_no_other_request(self, people: Team) -> None:
        run = people.made.submit()
        people.made.do(lambda session: session.execute(update(type(run)).values(state="completed")))
        path, ada, stranger = f"/api/v1/runs/{run.id}/events", people.add("ada"), people.browser()
        ticket = ticket_of(ada, path)
        assert stranger.get(f"/api/v1/runs/{run.id}?ticket={ticket}").json()["code"] == "sign_in_required"
        answer: Any = stranger.get(f"{path}?ticket={ticket}", headers=STREAM)
        assert (answer.status_code, answer.text.count("event: end")) == (200, 1)
        assert stranger.get(f"{path}?ticket={ticket}", headers=STREAM).json()["code"] == "ticket_invalid"

    @pytest.mark.parametrize("path", ["/api/v1/runs", "/account", "/ws/../account", "/api/v1/runs/x/events?after=1"])
    def test_tickets_are_only_for_stream_paths(self, people: Team, path: str) -> None:
        answer = people.add("ada").post("/api/v1/stream-tickets", json={"path": path})
        assert (answer.status_code, answer.json()["code"]) == (422, "not_a_stream")
