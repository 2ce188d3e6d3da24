"""A QEMU of QMP only: one end of a socket that greets, answers commands and sends events from a script."""

import contextlib
import json
import socket
import threading
from collections.abc import Callable
from typing import Any

Answer = Callable[[dict[str, Any]], list[dict[str, Any]]]
GREETING = {"QMP": {"version": {"qemu": {"major": 7, "minor": 2, "micro": 0}}, "capabilities": []}}


class FakeQmp:
    """Speaks QMP in its own thread.

    Attributes:
        theirs: the client's end.
        asked: every command, in order.
        descriptors: that came with commands.
    """

    def __init__(self, *, greeting: bytes | None = None) -> None:
        self.theirs, self._ours = socket.socketpair()
        self.asked: list[dict[str, Any]] = []
        self.descriptors: list[int] = []
        self.answers: dict[str, Answer] = {}
        self._greeting = json.dumps(GREETING).encode() + b"\n" if greeting is None else greeting
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def on(self, command: str, *messages: dict[str, Any]) -> None:
        """Sets the answer of that command; `{"return": ...}` gets the command's id."""
        self.answers[command] = lambda asked: [
            message if "event" in message else {**message, "id": asked["id"]} for message in messages
        ]

    def say(self, data: bytes) -> None:
        """Says something unasked."""
        self._ours.sendall(data)

    def tell(self, name: str, **data: Any) -> None:
        """An event."""
        self.say(json.dumps({"event": name, "data": data}).encode() + b"\n")

    def hang_up(self) -> None:
        """QEMU ends."""
        with contextlib.suppress(OSError):  # Closed already.
            self._ours.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.hang_up()
        self._thread.join(5)
        self._ours.close()
        self.theirs.close()

    def _serve(self) -> None:
        try:
            self._ours.sendall(self._greeting)
            buffer = b""
            while True:
                data, fds, _, _ = socket.recv_fds(self._ours, 65536, 4)
                if not data:
                    return
                self.descriptors += fds
                buffer += data
                while b"\n" in buffer:
                    line, _, buffer = buffer.partition(b"\n")
                    self._take(json.loads(line))
        except OSError:
            return

    def _take(self, asked: dict[str, Any]) -> None:
        self.asked.append(asked)
        answer = self.answers.get(asked["execute"])
        for message in answer(asked) if answer is not None else [{"return": {}, "id": asked["id"]}]:
            self._ours.sendall(json.dumps(message).encode() + b"\n")
