"""Protocol of worker and desktop supervisor: JSON objects with a 4-byte length prefix over a socket pair."""

import json
import socket
import struct
from typing import Any

_HEADER = struct.Struct("!I")
MAX_MESSAGE = 2**20


class ProtocolError(ValueError):
    """Invalid message."""


def encode(message: dict[str, Any]) -> bytes:
    """One message as bytes. Raises ProtocolError if it is too long."""
    body = json.dumps(message).encode()
    if len(body) > MAX_MESSAGE:
        raise ProtocolError(f"a message of {len(body)} bytes is too long")
    return _HEADER.pack(len(body)) + body


class MessageDecoder:
    """Splits a byte stream into messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """Complete messages so far, in order. Raises ProtocolError."""
        self._buffer += data
        messages = []
        while (message := self._next()) is not None:
            messages.append(message)
        return messages

    def _next(self) -> dict[str, Any] | None:
        if len(self._buffer) < _HEADER.size:
            return None
        (length,) = _HEADER.unpack_from(self._buffer)
        if length > MAX_MESSAGE:
            raise ProtocolError(f"a message of {length} bytes is too long")
        end = _HEADER.size + length
        if len(self._buffer) < end:
            return None
        body = json.loads(bytes(self._buffer[_HEADER.size : end]))
        del self._buffer[:end]
        if not isinstance(body, dict):
            raise ProtocolError("a message must be an object")
        return body


def send(connection: socket.socket, message: dict[str, Any]) -> None:
    """Sends one message, blocking while the socket is full. Raises OSError, ProtocolError."""
    connection.sendall(encode(message))
