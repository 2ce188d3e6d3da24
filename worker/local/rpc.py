"""Questions with numbers, their answers, and news in between: how a worker talks with the processes that it keeps.

Safe for threads: whoever asks waits for the answer, one thread reads. Standard library only.
"""

import contextlib
import itertools
import logging
import socket
import threading
from concurrent.futures import Future
from typing import Any, Protocol

Message = dict[str, Any]
_PIECE = 65536
logger = logging.getLogger(__name__)


class StreamDecoder(Protocol):
    """Cuts a stream of bytes into messages."""

    def feed(self, data: bytes) -> list[Message]:
        """The messages that are complete now. Raises ValueError, or an error of its own, for what is none."""
        ...


class RpcProtocol(Protocol):
    """What one kind of other side is like.

    Attributes:
        gone: why there is nobody to ask any more once the line has ended, in words.
    """

    gone: str

    def encode(self, message: Message) -> bytes:
        """A message as bytes."""
        ...

    def decoder(self) -> StreamDecoder:
        """For one connection."""
        ...

    def refused(self, answer: Message) -> Exception:
        """What is raised for an answer that says no."""
        ...

    def late(self, what: str) -> Exception:
        """What is raised where no answer came in time; `what` says to which question."""
        ...

    def lost(self, why: str) -> Exception:
        """What is raised where there is nobody to ask any more."""
        ...

    def news(self, message: Message) -> None:
        """Hears what was told unasked. In the reader's thread."""
        ...

    def answered(self, answer: Message, *, expected: bool) -> None:
        """Hears every good answer before whoever asked, in the order of the line; `expected`: somebody waits for it."""
        ...

    def died(self) -> None:
        """Hears that the other side is gone."""
        ...


class RpcConnection:
    """One connection and whoever waits for answers on it."""

    def __init__(self, connection: socket.socket, manners: RpcProtocol, *, name: str) -> None:
        """Takes over a connected socket. Reads nothing before `begin`. Args: name: of the reader's thread."""
        self._connection, self._manners = connection, manners
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._pending: dict[int, Future[Message]] = {}
        self.over = ""
        self._reader = threading.Thread(target=self._read, name=name, daemon=True)

    def begin(self) -> None:
        """Starts to read."""
        self._reader.start()

    def ask(self, question: Message, seconds: float) -> Message:
        """Asks and waits for the answer.

        Args:
            question: has `op`; gets `id`.
            seconds: deadline.

        Raises:
            Exception: by the manners: `refused`, `late`, `lost`.
        """
        answer: Future[Message] = Future()
        number = next(self._ids)
        with self._lock:
            if self.over:
                raise self._manners.lost(self.over)
            self._pending[number] = answer
            try:
                self._connection.sendall(self._manners.encode(question | {"id": number}))
            except OSError as error:
                self._pending.pop(number)
                raise self._manners.lost(f"nobody is there any more: {error}") from error
        try:
            return answer.result(seconds)
        except TimeoutError:
            # It may be answered right now; whoever comes later than this is told that nobody waits.
            if not answer.cancel():
                return answer.result()
            raise self._manners.late(f"{question['op']!r} in {seconds:g} s") from None
        finally:
            with self._lock:
                self._pending.pop(number, None)

    def say(self, message: Message) -> None:
        """Says something to which nobody awaits an answer: from within `answered`, or at the end. May be lost."""
        with contextlib.suppress(OSError):
            self._connection.sendall(self._manners.encode(message))

    def hang_up(self) -> None:
        """Ends the connection at once, from any thread; whoever waits hears so. Safe to call twice."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)

    def close(self, seconds: float) -> None:
        """Ends the connection and waits for the reader, so long at most. Safe to call twice."""
        self.hang_up()
        if self._reader.is_alive() and self._reader is not threading.current_thread():
            self._reader.join(seconds)
        self._connection.close()

    def _read(self) -> None:
        decoder = self._manners.decoder()
        try:
            while data := self._connection.recv(_PIECE):
                for message in decoder.feed(data):
                    if "event" in message:
                        self._manners.news(message)
                    else:
                        self._answered(message)
        except OSError:
            pass
        except Exception as error:  # noqa: BLE001 - a message may lack anything, and what comes then may be any error.
            logger.warning("the %s is left, as it sent what is no message: %r", self._reader.name, error)
        finally:
            # What is no message ends the conversation like the end of the line.
            self._end()

    def _answered(self, answer: Message) -> None:
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
        why = self._manners.gone
        with self._lock:
            self.over = why
            pending = list(self._pending.values())
        self.hang_up()
        self._manners.died()
        for waiting in pending:
            # One that runs had its answer, and nothing could be made of that.
            if waiting.running() or (not waiting.done() and waiting.set_running_or_notify_cancel()):
                waiting.set_exception(self._manners.lost(why))
