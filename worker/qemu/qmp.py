"""Small client of QMP, QEMU's machine protocol: commands, events, file descriptors, and a deadline for everything.

Source: QEMU's docs/interop/qmp-spec. A guest that has taken over its QEMU can write here, too: input is bounded.
"""

import socket
import time
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from worker.base.errors import CodedError
from worker.base.json_lines import LineDecoder, LineError, encode

QUICK = 10.0
"""Time limit in seconds of commands that only query or switch something."""
_MOST_EVENTS = 256
"""Older events are dropped: a guest can cause any number."""
_LONGEST = 4 * 2**20
_PIECE = 65536


class QmpError(CodedError):
    """QEMU refused a command; the message is QEMU's."""

    code = "qmp_refused"


class QmpLost(CodedError):
    """QEMU is gone, does not respond, or violates the protocol."""

    code = "qemu_gone"


@dataclass(frozen=True)
class QmpEvent:
    """An event, for example `SHUTDOWN` with `{"guest": true, "reason": "guest-shutdown"}`."""

    name: str
    data: Mapping[str, Any] = field(default_factory=dict)
    time: float = 0.0
    """QEMU's clock, seconds since 1970; 0 if missing."""


class Qmp:
    """Connection to one QEMU over one end of a socket. Not thread-safe."""

    def __init__(self, connection: socket.socket, *, seconds: float = QUICK) -> None:
        """Reads the greeting and enables commands.

        Args:
            connection: a connected unix socket, owned by this object.
            seconds: time limit.

        Raises:
            QmpLost: no valid greeting.
        """
        self._connection = connection
        self._decoder = LineDecoder(_LONGEST)
        self._number = 0
        self._inbox: deque[dict[str, Any]] = deque()
        self.events: deque[QmpEvent] = deque(maxlen=_MOST_EVENTS)
        deadline = time.monotonic() + seconds
        greeting = self._next_message(deadline)
        if not isinstance(greeting.get("QMP"), dict):
            raise QmpLost("QEMU did not greet", code="qmp_invalid")
        self.ask("qmp_capabilities", seconds=seconds)

    def fileno(self) -> int:
        return self._connection.fileno()

    def close(self) -> None:
        """Closes the connection, not QEMU. Safe to call twice."""
        self._connection.close()

    def ask(
        self,
        command: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        seconds: float = QUICK,
        fds: Sequence[int] = (),
    ) -> Any:
        """Sends a command and returns its result. Events received meanwhile are stored.

        Args:
            command: its name.
            arguments: of the command.
            seconds: time limit.
            fds: file descriptors to pass.

        Raises:
            QmpError: QEMU refuses.
            QmpLost: no response in time, or QEMU is gone.
        """
        self._number += 1
        message = {"execute": command, "arguments": dict(arguments or {}), "id": self._number}
        deadline = time.monotonic() + seconds
        self._send(encode(message), fds, deadline)
        while True:
            answer = self._next_message(deadline)
            if "event" in answer:
                self._keep(answer)
            elif answer.get("id") == self._number:
                return _return_value(answer, command)

    def wait(self, names: Collection[str], seconds: float) -> QmpEvent:
        """The first stored or future event of one of these names; earlier ones are dropped.

        Raises:
            QmpLost: none in time, or QEMU is gone.
        """
        deadline = time.monotonic() + seconds
        while True:
            while self.events:
                event = self.events.popleft()
                if event.name in names:
                    return event
            self._keep(self._next_message(deadline))

    def hear(self) -> list[QmpEvent]:
        """Available events without waiting; empties the store. Further events wait for the next call.

        Raises:
            QmpLost: QEMU is gone.
        """
        try:
            for _ in range(_MOST_EVENTS):
                self._keep(self._receive(time.monotonic()))
        except TimeoutError:
            pass
        except QmpLost:
            # Its last messages come before its end, which the next call reports.
            if not self.events:
                raise
        heard = list(self.events)
        self.events.clear()
        return heard

    def _keep(self, message: Mapping[str, Any]) -> None:
        data = message.get("data")
        if "event" in message:
            at = message.get("timestamp")
            seconds = _seconds(at) if isinstance(at, dict) else 0.0
            self.events.append(QmpEvent(str(message["event"]), data if isinstance(data, dict) else {}, seconds))

    def _send(self, data: bytes, fds: Sequence[int], deadline: float) -> None:
        try:
            self._connection.settimeout(max(0.001, deadline - time.monotonic()))
            sent = socket.send_fds(self._connection, [data], list(fds)) if fds else 0
            self._connection.sendall(data[sent:])
        except OSError as error:
            raise QmpLost(f"QEMU accepts no commands: {error}") from error

    def _next_message(self, deadline: float) -> dict[str, Any]:
        try:
            return self._receive(deadline)
        except TimeoutError:
            raise QmpLost("QEMU did not respond in time", code="qmp_timeout") from None

    def _receive(self, deadline: float) -> dict[str, Any]:
        """The next message. Raises TimeoutError at the deadline, QmpLost."""
        while not self._inbox:
            remaining = deadline - time.monotonic()
            self._connection.settimeout(max(0.0, remaining))
            try:
                data = self._connection.recv(_PIECE)
                if not data:
                    raise QmpLost("QEMU is gone")
                self._inbox.extend(self._decoder.feed(data))
            except (BlockingIOError, TimeoutError):
                raise TimeoutError from None
            except OSError as error:
                raise QmpLost(f"QEMU is gone or broken: {error}") from error
            except LineError as error:
                raise QmpLost(f"QEMU is gone or broken: {error}", code="qmp_invalid") from error
        return self._inbox.popleft()


def _seconds(timestamp: Mapping[str, Any]) -> float:
    seconds, micro = timestamp.get("seconds"), timestamp.get("microseconds")
    return seconds + micro / 1e6 if isinstance(seconds, int) and isinstance(micro, int) else 0.0


def _return_value(answer: Mapping[str, Any], command: str) -> Any:
    if "error" in answer:
        error = answer["error"]
        words = error.get("desc") if isinstance(error, dict) else error
        raise QmpError(f"{command}: {str(words)[:500]}")
    return answer.get("return")
