"""Which requests the port's methods make; their effect is tested in tests/integration/guest_server."""

import json
from collections.abc import Iterator

import pytest

from backend.domain.errors import GuestLost, GuestRefused
from backend.domain.model.run import ScreenSize
from backend.domain.ports.desktop import Desktop
from tests.error_codes import raises_code
from tests.unit.desktops.server import GuestSocketServer, reply
from worker.desktops import GuestDesktop


@pytest.fixture
def desktop(server: GuestSocketServer) -> Iterator[GuestDesktop]:
    desktop = GuestDesktop(server.address, "secret", screen=ScreenSize(width=640, height=480))
    yield desktop
    desktop.close()


def body(request: bytes) -> object:
    return json.loads(request.partition(b"\r\n\r\n")[2])


class TestPort:
    def test_is_a_desktop(self, desktop: GuestDesktop) -> None:
        assert isinstance(desktop, Desktop)

    def test_a_known_screen_is_not_asked_for(self, server: GuestSocketServer, desktop: GuestDesktop) -> None:
        assert desktop.screen.width == 640
        assert not server.requests

    def test_an_unknown_screen_is_asked_for_once(self, server: GuestSocketServer) -> None:
        value = {
            "api": "1",
            "platform": "Linux",
            "screen": {"width": 800, "height": 600},
            "capabilities": [],
            "clock": 1,
        }
        server.answer = reply(200, json.dumps(value).encode())
        desktop = GuestDesktop(server.address, "secret")
        assert desktop.screen == desktop.screen == ScreenSize(width=800, height=600)
        assert len(server.requests) == 1
        desktop.close()


class TestExecute:
    def test_passes_its_deadline_on(self, server: GuestSocketServer, desktop: GuestDesktop) -> None:
        server.answer = reply(200, b'{"output": "", "error": "", "returncode": 0}')
        desktop.execute(("a", "b"), timeout=7)
        assert server.requests[0].startswith(b"POST /execute ")
        assert body(server.requests[0]) == {"command": ["a", "b"], "shell": False, "timeout": 7}


class TestInteractions:
    def told(self, server: GuestSocketServer, *numbers: int) -> None:
        entries = [{"number": number, "kind": "click"} for number in numbers]
        server.answer = reply(200, json.dumps({"interactions": entries}).encode())

    def test_the_entries_after_a_number(self, server: GuestSocketServer, desktop: GuestDesktop) -> None:
        self.told(server, 4, 5)
        assert [entry.number for entry in desktop.interactions(3)] == [4, 5]
        assert server.requests[0].startswith(b"GET /interactions?since=3 ")
        self.told(server)
        assert desktop.interactions(5) == []

    @pytest.mark.parametrize("numbers", [(5, 6), (4, 6), (4, 4), (3, 4)])
    def test_a_gap_is_a_lost_desktop(
        self, server: GuestSocketServer, desktop: GuestDesktop, numbers: tuple[int, ...]
    ) -> None:
        self.told(server, *numbers)
        with raises_code(GuestLost, "guest_protocol_error"):
            desktop.interactions(3)


class TestCall:
    def test_get_has_a_query(self, server: GuestSocketServer, desktop: GuestDesktop) -> None:
        assert desktop.call("GET", "/accessibility", {"max_nodes": 5}) == {}
        assert server.requests[0].startswith(b"GET /accessibility?max_nodes=5 ")

    def test_post_has_json(self, server: GuestSocketServer, desktop: GuestDesktop) -> None:
        server.answer = reply(200, b"[1, 2]")
        assert desktop.call("POST", "/any", {"a": 1}) == [1, 2]
        assert body(server.requests[0]) == {"a": 1}

    def test_text_is_text(self, server: GuestSocketServer, desktop: GuestDesktop) -> None:
        server.answer = reply(200, b"Linux", "text/plain")
        assert desktop.call("GET", "/platform") == "Linux"

    def test_bytes_are_refused(self, server: GuestSocketServer, desktop: GuestDesktop) -> None:
        server.answer = reply(200, b"\xff\xd8", "image/jpeg")
        with raises_code(GuestRefused, "guest_refused", mentions="JSON"):
            desktop.call("GET", "/frame")


class TestClose:
    def test_close_is_idempotent(self, desktop: GuestDesktop) -> None:
        desktop.close()
        desktop.close()
