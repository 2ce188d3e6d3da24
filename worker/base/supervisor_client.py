"""Base of the supervisors' clients. Supervisors start things for the worker and end them when it dies.

Standard library only. Thread-safe.
"""

import socket
import threading
from concurrent.futures import Future
from typing import ClassVar, Generic, Protocol, TypeVar

from worker.base.errors import CodedError
from worker.base.json_lines import MAX_LINE
from worker.base.rpc import Message, RpcConnection, RpcProtocol

NOBODY = 0
"""Placeholder for a request number, which start at 1."""


class Handle(Protocol):
    """Something that a supervisor has started."""

    def lose(self, reason: str) -> None:
        """Records that it ended with its supervisor, unless it had ended before."""
        ...


H = TypeVar("H", bound=Handle)


class SupervisorConnection(RpcProtocol, Generic[H]):
    """Connection to one supervisor, and what it has started, by name. Its hooks: see `worker.base.rpc`.

    Attributes:
        title: of the supervisor, for messages.
        error, lost_error: classes of its errors.
        start_seconds: until it must have reported its start.
    """

    title: ClassVar[str]
    error: ClassVar[type[CodedError]]
    lost_error: ClassVar[type[CodedError]]
    start_seconds: ClassVar[float]

    def __init__(self, connection: socket.socket, *, most: int = MAX_LINE) -> None:
        """Wraps a connection on which the supervisor is about to report its start. `most`: bytes of a message."""
        self._handles: dict[str, H] = {}
        self._noting = threading.Lock()
        self._started: Future[Message] = Future()
        self._conversation = RpcConnection(connection, self, name="supervisor", most=most)
        self._conversation.begin()

    def _wait_started(self) -> Message:
        """The supervisor's start report. Raises `error`; nothing of it is left then."""
        try:
            return self._started.result(self.start_seconds)
        except (self.error, TimeoutError) as error:
            self.close()
            raise self.error(f"{self.title} did not start: {error}", code="supervisor_not_started") from error

    def alive(self) -> bool:
        """False once it is known to be gone."""
        return not self._conversation.over

    def close(self) -> None:
        """Disconnects; nothing that it has started is left then. Safe to call twice."""

    def _register(self, name: str, handle: H) -> H:
        """Stores a handle in the reader's order: the next message may be its end."""
        with self._noting:
            self._handles[name] = handle
        return handle

    def refused(self, answer: Message) -> CodedError:
        return self.error(answer["error"], code=str(answer.get("code", "")))

    def late(self, operation: str) -> CodedError:
        return self.error(f"{self.title} did not respond to {operation}", code="supervisor_timeout")

    def lost(self, reason: str) -> CodedError:
        return self.lost_error(reason)

    def died(self) -> None:
        with self._noting:
            handles = list(self._handles.values())
            self._handles.clear()
        for handle in handles:
            handle.lose(self.gone)
        if not self._started.done():
            self._started.set_exception(self.lost_error(self.gone))
