"""The page's websocket: what it does on a half-open connection, after a sleep, and without any stream."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
MODULE = HERE.parents[2] / "frontend" / "static" / "js" / "lib" / "socket.js"


@pytest.fixture(scope="module")
def played() -> dict[str, Any]:
    """Events of `socket.mjs`."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node (make setup installs it)")
    words = [node, str(HERE / "socket.mjs"), str(MODULE)]
    found: dict[str, Any] = json.loads(subprocess.run(words, capture_output=True, check=True, timeout=60).stdout)
    return found


class TestSocket:
    def test_keepalives_preserve_a_quiet_connection_and_are_not_delivered(self, played: dict[str, Any]) -> None:
        assert played["beats"] == {"connections": 1, "heard": ["one"], "states": ["on"]}

    def test_a_silent_connection_is_given_up_and_resumed_where_it_was(self, played: dict[str, Any]) -> None:
        silent = played["silent"]
        assert silent["gaveUp"]
        assert silent["addresses"] == ["ws://desk/ws/x?after=0", "ws://desk/ws/x?after=1"]
        assert silent["states"] == ["on", "off", "on"]
        assert silent["heard"] == ["one"], "what comes late on the old connection counts no more"
        assert played["left"] == 0

    def test_polls_until_a_socket_opens(self, played: dict[str, Any]) -> None:
        assert played["polling"] == ["off", "off", "polling", "polling"]
        assert played["back"] == "on"

    def test_connects_again_when_the_network_or_the_page_comes_back(self, played: dict[str, Any]) -> None:
        assert played["woken"] == [2, 3, 4, 4, 5]

    def test_an_end_that_the_service_says_is_the_end(self, played: dict[str, Any]) -> None:
        assert played["ended"] == {"states": ["on", "ended"], "connections": 1, "timers": 0}

    def test_pages_do_not_come_back_together(self, played: dict[str, Any]) -> None:
        pauses = played["pauses"]
        assert pauses["different"] > 10
        assert 250 <= pauses["least"] < pauses["most"] <= 500
