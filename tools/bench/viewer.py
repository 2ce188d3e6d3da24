"""The API in a separate process, and a viewer of its live view."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from uuid import UUID

from websockets.sync.client import connect

from tests.waiting import until


class ApiServers:
    """Processes of the product's API server, which share a free port of this machine."""

    def __init__(self, environment: Mapping[str, str], number: int = 1) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port = listener.getsockname()[1]
            self.processes = [
                subprocess.Popen(
                    [sys.executable, "-P", "-m", "backend.web.serve", "--fd", str(listener.fileno())],
                    env={**environment, "DESKARENA_PORT": str(self.port), "DESKARENA_LOG_LEVEL": "warning"},
                    pass_fds=[listener.fileno()],
                )
                for _ in range(number)
            ]
        until(self._answers, 180.0, what="the API answers")

    def _answers(self) -> bool:
        import urllib.request

        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/livez", timeout=10) as reply:
                return bool(reply.status == 200)
        except OSError:
            return False

    @property
    def address(self) -> str:
        """Base address of the service."""
        return f"http://127.0.0.1:{self.port}"

    def processor_seconds(self) -> float:
        """Processor time of all of them so far."""
        return processor_seconds(*(process.pid for process in self.processes))

    def stop(self) -> None:
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait(15)


def processor_seconds(*pids: int) -> float:
    """Processor time of these processes so far."""
    fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(field[11]) + int(field[12]) for field in fields) / os.sysconf("SC_CLK_TCK")


def watch(port: int, attempt_id: UUID, seconds: float) -> tuple[list[float], list[float]]:
    """Watches an attempt for a while, as a browser does.

    Returns:
        Milliseconds from capture to arrival of each frame; and the age that each had reached when the next replaced it.
    """
    arrived: list[float] = []
    replaced: list[float] = []
    captured = None
    deadline = time.monotonic() + seconds
    with connect(f"ws://127.0.0.1:{port}/ws/attempts/{attempt_id}/live", max_size=None, compression=None) as view:
        while time.monotonic() < deadline:
            message = view.recv(timeout=10)
            now = time.time()
            if not isinstance(message, bytes):
                continue  # A beat.
            line, _, picture = message.partition(b"\n")
            head = json.loads(line)
            view.send("next")
            if not picture:
                continue  # The screen is still the same.
            arrived.append((now - head["captured_at"]) * 1000)
            if captured is not None:
                replaced.append((now - captured) * 1000)
            captured = head["captured_at"]
    return arrived, replaced
