"""Requests, responses and notifications between a worker and its child processes, as JSON lines.

Thread-safe: callers wait for their response, one thread reads. Standard library only.
"""

import contextlib
import itertools
import logging
import socket
import threading
from concurrent.futures import Future
from typing import Any, Protocol

from worker.base.json_lines import MAX_LINE, LineDecoder, encode

Message = dict[str, Any]
_PIECE = 65536
logger = logging.getLogger(__name__)


class RpcProtocol(Protocol):
    """Hooks for one kind of peer.

    Attributes:
        gone: why no request is possible after the connection has ended.
    """

    gone: str

    def refused(self, answer: Message) -> Exception:
        """Exception for an error response."""
        ...

    def late(self, operation: str) -> Exception:
        """Exception for a timeout; `what` describes the request."""
        ...

    def lost(self, reason: str) -> Exception:
        """Exception for a request after the connection has ended."""
        ...

    def news(self, message: Message) -> None:
        """Handles a notification, in the reader's thread."""
        ...

    def answered(self, answer: Message, *, expected: bool) -> None:
        """Handles every successful response before its caller, in order; `expected`: somebody waits for it."""
        ...

    def died(self) -> None:
        """Handles the end of the peer."""
        ...


class RpcConnection:
    """One connection and its waiting callers."""

    def __init__(self, connection: socket.socket, manners: RpcProtocol, *, name: str, most: int = MAX_LINE) -> None:
        """Wraps a connected socket. Does not read before `begin`.

        Args:
            connection: to the peer.
            manners: hooks for its kind.
            name: of the reader's thread.
            most: bytes of the longest message, in either direction.
        """
        self._connection, self._manners, self._most = connection, manners, most
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._pending: dict[int, Future[Message]] = {}
        self.over = ""
        self._reader = threading.Thread(target=self._read, name=name, daemon=True)

    def begin(self) -> None:
        self._reader.start()

    def ask(self, question: Message, seconds: float) -> Message:
        """Sends a request and waits for the response.

        Args:
            question: has `op`; `id` is added.
            seconds: time limit.

        Raises:
            Exception: created by the protocol's `refused`, `late`, `lost`.
            LineError: the request is too long.
        """
        answer: Future[Message] = Future()
        number = next(self._ids)
        line = encode(question | {"id": number}, self._most)
        with self._lock:
            if self.over:
                raise self._manners.lost(self.over)
            self._pending[number] = answer
            try:
                self._connection.sendall(line)
            except OSError as error:
                self._pending.pop(number)
                raise self._manners.lost(f"the connection is closed: {error}") from error
        try:
            return answer.result(seconds)
        except TimeoutError:
            # A response may arrive right now; after this point it finds that nobody waits.
            if not answer.cancel():
                return answer.result()
            raise self._manners.late(f"{question['op']!r} within {seconds:g} s") from None
        finally:
            with self._lock:
                self._pending.pop(number, None)

    def say(self, message: Message) -> None:
        """Sends a request without waiting for a response: from within `answered`, or at the end. May be lost."""
        with contextlib.suppress(OSError):
            self._connection.sendall(encode(message, self._most))

    def hang_up(self) -> None:
        """Closes the connection at once, from any thread; waiting callers are notified. Safe to call twice."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)

    def close(self, seconds: float) -> None:
        """Closes the connection and waits at most the given seconds for the reader. Safe to call twice."""
        self.hang_up()
        if self._reader.is_alive() and self._reader is not threading.current_thread():
            self._reader.join(seconds)
        self._connection.close()

    def _read(self) -> None:
        decoder = LineDecoder(self._most)
        try:
            while data := self._connection.recv(_PIECE):
                for message in decoder.feed(data):
                    if "event" in message:
                        self._manners.news(message)
                    else:
                        self._handle_answer(message)
        except OSError:
            pass
        except Exception as error:  # noqa: BLE001 - a message may lack anything, and what comes then may be any error.
            logger.warning("connection to the %s closed because of an invalid message: %r", self._reader.name, error)
        finally:
            # An invalid message ends the connection.
            self._end()

    def _handle_answer(self, answer: Message) -> None:
        with self._lock:
            waiting = self._pending.get(answer["id"])
            expected = waiting is not None and waiting.set_running_or_notify_cancel()
            if answer["ok"]:
                self._manners.answered(answer, expected=expected)
        if waiting is None or not expected:
            return
        if answer["ok"]:
            waiting.set_result(answer)
        else:
            waiting.set_exception(self._manners.refused(answer))

    def _end(self) -> None:
        reason = self._manners.gone
        with self._lock:
            self.over = reason
            pending = list(self._pending.values())
        self.hang_up()
        self._manners.died()
        for waiting in pending:
            # A started one got its response, which could not be processed.
            if waiting.running() or (not waiting.done() and waiting.set_running_or_notify_cancel()):
                waiting.set_exception(self._manners.lost(reason))
