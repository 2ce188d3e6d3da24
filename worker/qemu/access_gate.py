"""Access gate of a supervisor in a pod: admits one worker at a time, the one with the latest lease.

It never waits for a peer, so an idle connection does not block the machines' owner. See `handshake`.
"""

import contextlib
import math
import selectors
import socket
import time
from collections.abc import Collection
from dataclasses import dataclass, field

from worker.base.json_lines import LineDecoder, encode
from worker.qemu import handshake

SECONDS = 10.0
MOST_VISITORS = 16
STALE = "the slot is held under a later lease"
_KEEPALIVE = ((socket.TCP_KEEPIDLE, 10), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 3))


def steady(connection: socket.socket) -> None:
    """Disables delays, and detects a dead peer within half a minute."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in _KEEPALIVE:
        connection.setsockopt(socket.IPPROTO_TCP, option, value)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 30_000)


@dataclass
class _UnverifiedConnection:
    """A peer that has not proved yet that it knows the token."""

    connection: socket.socket
    until: float
    nonce: str = field(default_factory=handshake.nonce)
    decoder: LineDecoder = field(default_factory=lambda: LineDecoder(handshake.LONGEST))
    theirs: str = ""
    fence: int = -1


class AccessGate:
    """Accepts connections and decides who may enter. For one thread."""

    def __init__(self, listener: socket.socket, token: str, fence: int = 0) -> None:
        """Takes ownership of a listening socket.

        Args:
            listener: for workers.
            token: shared secret.
            fence: lowest fencing token that is admitted.
        """
        self._listener, self._token = listener, token
        self.fence = fence
        self._visitors: dict[socket.socket, _UnverifiedConnection] = {}
        listener.setblocking(False)

    def sockets(self) -> list[socket.socket]:
        """All sockets to wait for."""
        return [self._listener, *self._visitors]

    def wait(self, seconds: float = math.inf) -> socket.socket:
        """Waits for a peer that may enter. Raises TimeoutError."""
        until = time.monotonic() + seconds
        while (remaining := until - time.monotonic()) > 0:
            with selectors.DefaultSelector() as selector:
                for listener in self.sockets():
                    selector.register(listener, selectors.EVENT_READ)
                ready = [key.fileobj for key, _ in selector.select(min(SECONDS, remaining))]
            entered = self.turn(ready)
            if entered is not None:
                return entered
        raise TimeoutError

    def turn(self, ready: Collection[object]) -> socket.socket | None:
        """Reads from peers that sent something; returns the connection of one that may enter.

        Nobody else may afterwards.
        """
        entered: socket.socket | None = None
        if self._listener in ready:
            self._accept()
        for visitor in list(self._visitors.values()):
            if visitor.connection in ready and self._knows(visitor):
                del self._visitors[visitor.connection]
                entered = self._enter(visitor, entered)
            elif time.monotonic() > visitor.until:
                self._drop(visitor)
        return entered

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            connection, _ = self._listener.accept()
            if len(self._visitors) >= MOST_VISITORS:
                self._drop(min(self._visitors.values(), key=lambda visitor: visitor.until))
            connection.setblocking(False)
            steady(connection)
            self._visitors[connection] = _UnverifiedConnection(connection, time.monotonic() + SECONDS)

    def _enter(self, visitor: _UnverifiedConnection, before: socket.socket | None) -> socket.socket | None:
        if visitor.fence < self.fence:
            with contextlib.suppress(OSError):
                visitor.connection.send(encode({"event": "refused", "why": STALE}))
            visitor.connection.close()
            return before
        if before is not None:
            before.close()
        self.fence = visitor.fence
        return visitor.connection

    def _knows(self, visitor: _UnverifiedConnection) -> bool:
        """Whether the peer has proved that it knows the token. A peer that violates the protocol is disconnected."""
        try:
            data = visitor.connection.recv(handshake.LONGEST)
            messages = visitor.decoder.feed(data)
            for message in messages:
                if visitor.theirs:
                    if self._is_proven(visitor, message):
                        return True
                    data = b""
                else:
                    self._answer(visitor, message)
        except BlockingIOError:
            return False
        except (OSError, ValueError, KeyError, TypeError):
            data = b""
        if not data:
            self._drop(visitor)
        return False

    def _answer(self, visitor: _UnverifiedConnection, message: dict[str, object]) -> None:
        theirs, fence = message["nonce"], message["fence"]
        if not isinstance(theirs, str) or not theirs or type(fence) is not int or fence < 0:
            raise ValueError("invalid greeting")
        visitor.theirs, visitor.fence = theirs, fence
        proof = handshake.proof(self._token, handshake.SUPERVISOR, theirs, visitor.nonce, fence)
        visitor.connection.send(encode({"nonce": visitor.nonce, "proof": proof}))

    def _is_proven(self, visitor: _UnverifiedConnection, message: dict[str, object]) -> bool:
        expected = handshake.proof(self._token, handshake.WORKER, visitor.theirs, visitor.nonce, visitor.fence)
        return handshake.same(message.get("proof"), expected)

    def _drop(self, visitor: _UnverifiedConnection) -> None:
        self._visitors.pop(visitor.connection, None)
        visitor.connection.close()
