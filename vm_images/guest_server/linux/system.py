"""Privileged operations on Linux, through the helper that runs as root (`root_helper.py`)."""

import base64
import contextlib
import json
import socket
import threading
from typing import Any

from guest_server.protocol.errors import GuestError

_ANSWER_SECONDS = 8.0


class RootHelper:
    """The only connection to the helper: opened before an agent is there."""

    def __init__(self, path: str) -> None:
        """Connects.

        Args:
            path: of the helper's socket.

        Raises:
            GuestError: the helper is not running.
        """
        self._lock = threading.Lock()
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.settimeout(_ANSWER_SECONDS)
            self._socket.connect(path)
        except OSError as error:
            self._socket.close()
            raise GuestError("not_available", f"the machine's helper does not answer: {error}") from None
        self._answers = self._socket.makefile("rb")

    def set_clock(self, now: float) -> None:
        self._ask("clock", now)

    def add_entropy(self, entropy: bytes) -> None:
        self._ask("entropy", base64.b64encode(entropy).decode())

    def trust(self, certificate: str) -> None:
        self._ask("trust", certificate)

    def close(self) -> None:
        """Closes the connection, and so ends the helper."""
        with contextlib.suppress(OSError):
            self._answers.close()
        self._socket.close()

    def _ask(self, request: str, value: Any) -> None:
        with self._lock:
            try:
                self._socket.sendall(json.dumps({"do": request, "value": value}).encode() + b"\n")
                line = self._answers.readline()
            except OSError as error:
                raise GuestError("failed", f"the machine's helper did not do it: {error}") from None
        problem = json.loads(line).get("error", "") if line else "it has ended"
        if problem:
            raise GuestError("failed", f"the machine's helper did not do it: {problem}")
