"""JSON lines: protocol of QEMU (QMP), and of a worker with its supervisors and evaluators. Standard library only.

The guest server and the stack's process guard write such lines themselves: they run alone and import nothing of ours.
"""

import json
from typing import Any

MAX_LINE = 64 * 2**20
"""Bytes. The longest valid line is a picture of a large screen."""


class LineError(ValueError):
    """Invalid message."""


def encode(message: dict[str, Any], most: int = MAX_LINE) -> bytes:
    """One message as bytes. Raises LineError if it has more than `most` bytes."""
    line = json.dumps(message).encode() + b"\n"
    if len(line) > most:
        raise LineError(f"a line of more than {most} bytes")
    return line


class LineDecoder:
    """Splits a byte stream into messages."""

    def __init__(self, most: int = MAX_LINE) -> None:
        self._buffer = bytearray()
        self._most = most

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """Complete messages so far, in order.

        Raises:
            LineError: a line is too long, or not a JSON object.
        """
        before = len(self._buffer)
        self._buffer += data
        messages = []
        while 0 <= (end := self._buffer.find(b"\n", before)) <= self._most:
            line = bytes(self._buffer[:end]).strip()
            del self._buffer[: end + 1]
            before = 0
            if line:
                messages.append(_object(line))
        if len(self._buffer) > self._most:
            raise LineError(f"a line of more than {self._most} bytes")
        return messages


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise LineError(f"a line of {len(line)} bytes is not valid JSON") from None
    if not isinstance(value, dict):
        raise LineError("a line is not a JSON object")
    return value
