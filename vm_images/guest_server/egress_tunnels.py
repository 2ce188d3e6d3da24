"""Egress of a virtual machine: websockets that the worker keeps open, one per connection.

Such a machine's network card leads nowhere, and it cannot connect to the outside. So the worker connects to it and
waits. A program's connection uses one of the waiting websockets. When the worker receives the first bytes, it forwards
them to the gateway, which decides what is allowed. An empty message means that its sender has closed its direction.
"""

import asyncio
import contextlib
from collections import deque

from aiohttp import WSMsgType, web

from guest_server.protocol.errors import GuestError

PIECE = 65_536
_END = b""


class _WaitingTunnel:
    """A websocket of the worker that waits for a program.

    Attributes:
        writer: of the program that uses it.
        heard: set when nothing more comes from the worker.
        broken: whether it closed without an end message.
        free: set when the program no longer needs it.
    """

    def __init__(self, socket: web.WebSocketResponse) -> None:
        self.socket = socket
        self.writer: asyncio.StreamWriter | None = None
        self.heard, self.free = asyncio.Event(), asyncio.Event()
        self.broken = False
        self.task = asyncio.current_task()

    async def listen(self) -> None:
        """Forwards data from the worker to the program until the worker ends."""
        try:
            self.broken = not await self._listen()
        except OSError:
            self.broken = True  # The program has gone.
        finally:
            self.heard.set()

    async def _listen(self) -> bool:
        async for message in self.socket:
            if message.type != WSMsgType.BINARY or self.writer is None:
                return False  # No request was sent, so there is no response.
            if message.data == _END:
                self.writer.write_eof()
                return True
            self.writer.write(message.data)
            await self.writer.drain()
        return False

    async def carry(self, first: bytes, reader: asyncio.StreamReader) -> None:
        """Forwards data from the program to the worker; returns when both have ended, or one is gone."""
        speaking, hearing = asyncio.create_task(self._speak(first, reader)), asyncio.create_task(self.heard.wait())
        try:
            await asyncio.wait({speaking, hearing}, return_when=asyncio.FIRST_COMPLETED)
            if not self.broken:
                await speaking
                await hearing
        finally:
            for task in (speaking, hearing):
                task.cancel()
            await asyncio.gather(speaking, hearing, return_exceptions=True)
            self.free.set()

    async def _speak(self, first: bytes, reader: asyncio.StreamReader) -> None:
        data = first
        while data:
            await self.socket.send_bytes(data)
            data = await reader.read(PIECE)
        await self.socket.send_bytes(_END)


class EgressTunnels:
    """Tunnels of one machine. Used in one event loop."""

    def __init__(self, most: int, seconds: float) -> None:
        """Args: most: maximum waiting tunnels; seconds: maximum wait of a program for one."""
        self._most, self._seconds = most, seconds
        self._waiting: deque[_WaitingTunnel] = deque()
        self._changed = asyncio.Condition()

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Serves a websocket of the worker until it ends.

        Raises:
            GuestError: `conflict` if too many are waiting already.
        """
        if len(self._waiting) >= self._most:
            raise GuestError("conflict", f"{self._most} lines are waiting already")
        socket = web.WebSocketResponse(max_msg_size=2 * PIECE)
        await socket.prepare(request)
        line = _WaitingTunnel(socket)
        async with self._changed:
            self._waiting.append(line)
            self._changed.notify()
        try:
            await line.listen()
            if line.writer is not None:
                await line.free.wait()
        finally:
            with contextlib.suppress(ValueError):
                self._waiting.remove(line)
            await socket.close()
        return socket

    async def lead(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Connects a program to the next tunnel. Without one its connection is closed."""
        try:
            first = await reader.read(PIECE)
            if first:
                async with asyncio.timeout(self._seconds):
                    line = await self._next()
                line.writer = writer
                await line.carry(first, reader)
        except (OSError, TimeoutError):
            pass  # Either side went in the middle of something, or the worker keeps no line open.
        finally:
            writer.close()

    def forget(self) -> None:
        """Closes waiting tunnels: in a clone, their peers belong to another machine."""
        for line in self._waiting:
            if line.task is not None:
                line.task.cancel()
        self._waiting.clear()

    async def _next(self) -> _WaitingTunnel:
        async with self._changed:
            await self._changed.wait_for(lambda: bool(self._waiting))
            return self._waiting.popleft()
