"""A resumed machine is notified. Its helper runs here as root's would, with a clock that is a list."""

import base64
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from guest_server.linux.root_helper import RootHelperProcess, SystemPaths, serve
from tests.integration.guest_server.session import SECRET, RunningSession

pytestmark = pytest.mark.desktop
OTHER = "another-secret-0123456789"
ENTROPY = base64.b64encode(os.urandom(64)).decode()


class Kept(RootHelperProcess):
    """Records requests, in order."""

    def __init__(self, folder: Path) -> None:
        super().__init__(SystemPaths(bundle=folder / "bundle.crt", policies=folder / "policies"))
        self.asked: list[tuple[str, object]] = []

    def do(self, asked: object) -> None:
        assert isinstance(asked, dict)
        self.asked.append((asked["do"], asked["value"]))
        if asked["value"] == 1.0:
            raise OSError("the clock cannot be set")


@pytest.fixture
def helper(tmp_path: Path) -> Iterator[Kept]:
    helper, listener = Kept(tmp_path), socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "helper"))
    listener.listen()
    thread = threading.Thread(target=serve, args=(helper, listener))
    thread.start()
    yield helper
    thread.join(60)


@pytest.fixture
def machine(helper: Kept, tmp_path: Path) -> Iterator[RunningSession]:
    assert helper.asked == []
    with RunningSession(tmp_path, variables={"DESKARENA_ROOT_HELPER": str(tmp_path / "helper")}) as started:
        yield started


class TestRestored:
    def test_clock_entropy_and_secret_in_this_order(self, machine: RunningSession, helper: Kept) -> None:
        told = {"time": 1_700_000_000.5, "entropy": ENTROPY, "secret": OTHER}
        assert machine.post("/restored", told).json() == {"status": "success"}
        assert helper.asked == [("clock", 1_700_000_000.5), ("entropy", ENTROPY)]
        assert machine.http.get("/probe").status_code == 401
        with machine.client({"Authorization": f"Bearer {OTHER}"}) as client:
            assert client.get("/probe").status_code == 200
            answer = client.post("/trust", json={"certificate": "PEM"})
        assert (answer.status_code, helper.asked[2:]) == (200, [("trust", "PEM")])

    def test_an_invalid_request_is_refused_and_keeps_the_secret(self, machine: RunningSession, helper: Kept) -> None:
        right = {"time": 5.0, "entropy": ENTROPY, "secret": OTHER}
        for wrong in ({"time": "now"}, {"time": -1}, {"entropy": "?"}, {"entropy": "A" * 5000}, {"secret": "short"}):
            answer = machine.http.post("/restored", json={**right, **wrong})
            assert answer.status_code in {400, 413}, wrong
        answer = machine.http.post("/restored", json={**right, "time": 1.0})
        assert (answer.status_code, answer.json()["error"]) == (500, "failed")
        assert "the clock cannot be set" in answer.json()["message"]
        assert machine.http.get("/probe").status_code == 200
        assert helper.asked[-1] == ("clock", 1.0)


class TestNoMachine:
    def test_a_desktop_that_shares_its_clock_refuses(self, session: RunningSession) -> None:
        told = {"time": 5.0, "entropy": ENTROPY, "secret": SECRET}
        for path, body in (("/restored", told), ("/trust", {"certificate": ""})):
            answer = session.http.post(path, json=body)
            assert (answer.status_code, answer.json()["error"]) == (501, "not_available")
