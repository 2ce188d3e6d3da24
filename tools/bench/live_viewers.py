"""Many viewers of live views in one process: `python -m tools.bench.live_viewers PORT EACH WIDTH ATTEMPT ...`.

Each viewer acknowledges every frame at once, as a page does that has drawn it. When stdin ends, prints one JSON object:
ages of frames in milliseconds, from capture to arrival and when the next one replaced them, and the number of bytes.
"""

import asyncio
import base64
import json
import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

ACK = b"\x81\x84\x00\x00\x00\x00next"
"""A whole text message with a mask of zeros; RFC 6455, section 5.2."""
WARM_UP_SECONDS, WARM_UP_PICTURES = 20.0, 5
BINARY, PING, PONG, TEXT_LENGTH, LONG_LENGTH = 0x82, 0x89, 0x8A, 126, 127


class Ages:
    """Ages of the pictures of all viewers."""

    def __init__(self) -> None:
        self.arrived: list[float] = []
        self.replaced: list[float] = []
        self.bytes = 0
        self.lost = 0


class LiveViewer(asyncio.Protocol):
    """One websocket, read without a library, which would take more of the machine than the service does."""

    def __init__(self, address: str, ages: Ages) -> None:
        self._address = address
        self._ages = ages
        self._buffer = bytearray()
        self._open = False
        self._captured: float | None = None
        self._pictures = 0
        self.warm = asyncio.Event()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        key = base64.b64encode(os.urandom(16)).decode()
        transport.write(
            f"GET {self._address} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._open:
            head, separator, body = bytes(self._buffer).partition(b"\r\n\r\n")
            if not separator:
                return
            if not head.startswith(b"HTTP/1.1 101"):
                self._transport.abort()
                return
            self._open, self._buffer = True, bytearray(body)
        while (size := self._whole_frame()) is not None:
            start, end = size
            if self._buffer[0] == BINARY:
                self._frame(bytes(self._buffer[start : min(end, start + 1000)]))
            elif self._buffer[0] == PING:
                payload = bytes(self._buffer[start:end])
                self._transport.write(bytes((PONG, 0x80 | len(payload), 0, 0, 0, 0)) + payload)
            del self._buffer[:end]

    def connection_lost(self, exc: Exception | None) -> None:
        self._ages.lost += exc is not None or not self._open

    def _whole_frame(self) -> tuple[int, int] | None:
        """First and last byte of the next message's content; None if it is not complete."""
        buffer = self._buffer
        if len(buffer) < 2:  # noqa: PLR2004 - opcode and length
            return None
        start, length = 2, buffer[1]
        if length in {TEXT_LENGTH, LONG_LENGTH}:
            start = 4 if length == TEXT_LENGTH else 10
            if len(buffer) < start:
                return None
            length = int.from_bytes(buffer[2:start], "big")
        return (start, start + length) if len(buffer) >= start + length else None

    def _frame(self, beginning: bytes) -> None:
        now, head = time.time(), json.loads(beginning.partition(b"\n")[0])
        self._transport.write(ACK)
        captured, ages = head["captured_at"], self._ages
        if captured == self._captured:
            return
        self._pictures += 1
        if self._pictures == WARM_UP_PICTURES:
            self.warm.set()
        ages.arrived.append((now - captured) * 1000)
        ages.bytes += len(self._buffer)
        if self._captured is not None:
            ages.replaced.append((now - self._captured) * 1000)
        self._captured = captured


async def watch(port: int, viewers_per_episode: int, width: int, attempts: Sequence[str]) -> Ages:
    """Watches each attempt with `viewers_per_episode` viewers, in pictures of that width, until stdin ends."""
    loop, ages, viewers = asyncio.get_running_loop(), Ages(), list[LiveViewer]()
    for _ in range(viewers_per_episode):
        for attempt in attempts:
            address = f"/ws/attempts/{attempt}/live?width={width}"
            _, viewer = await loop.create_connection(
                lambda address=address: LiveViewer(address, ages),  # type: ignore[misc]
                "127.0.0.1",
                port,
            )
            viewers.append(viewer)
    # What was slow because all came at once is not counted.
    with suppress(TimeoutError):
        async with asyncio.timeout(WARM_UP_SECONDS):
            await asyncio.gather(*(viewer.warm.wait() for viewer in viewers))
    ages.arrived.clear()
    ages.replaced.clear()
    sys.stdout.write("watching\n")
    sys.stdout.flush()
    await loop.run_in_executor(None, sys.stdin.read)
    return ages


def main() -> None:
    """Watches, and prints what was seen."""
    port, viewers, width, *attempts = sys.argv[1:]
    ages = asyncio.run(watch(int(port), int(viewers), int(width), attempts))
    sys.stdout.write(json.dumps(vars(ages)))
    sys.stdout.flush()
    os._exit(0)  # Hundreds of open connections need no farewell.


if __name__ == "__main__":
    main()
