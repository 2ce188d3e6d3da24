"""The worker's end of a virtual machine's egress: tunnels to its guest API that wait for a program.

Such a machine cannot connect to us, so we connect to the one port that it has, and wait. Data from a tunnel goes to the
machine's gateway; when a tunnel gets its first bytes, another one is opened. An empty message means that the sender has
closed its direction. Everything received is hostile: sizes, tunnels and attempts are limited.
"""

import asyncio
import contextlib
import logging
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect, unix_connect
from websockets.exceptions import WebSocketException

IDLE_LINES = 4
"""Number of idle tunnels once a program has used one: a browser opens about as many connections at once. One until
then: opening a tunnel delays an emulated machine's first picture.
"""
MOST_LINES = 64
_PIECE = 65_536
_CONNECT_SECONDS = 10.0
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
_END = b""
_OPTIONS: "MappingProxyType[str, Any]" = MappingProxyType(
    {
        "max_size": 2 * _PIECE,
        "max_queue": 4,
        "compression": None,
        "open_timeout": _CONNECT_SECONDS,
        "close_timeout": 1,
        # A prepared machine is paused and answers no ping; one that is gone closes the connection.
        "ping_interval": None,
        "user_agent_header": None,
    }
)
logger = logging.getLogger(__name__)


class GuestTunnels:
    """Keeps tunnels open to one machine until it is closed."""

    def __init__(self, loop: asyncio.AbstractEventLoop, address: str, secret: str, gateway: Path) -> None:
        """Does not connect yet.

        Args:
            loop: event loop of all tunnels.
            address: of the guest API: `http://host:port`, or `unix:/path` of a socket.
            secret: the machine's secret.
            gateway: unix socket of the machine's gateway.
        """
        self._loop = loop
        self._address, self._secret, self._gateway = address, secret, gateway
        self._idle: set[asyncio.Task[None]] = set()
        self._busy: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self._idle_target = 1
        self._pause = _SHORTEST_PAUSE
        self._task: asyncio.Task[None] | None = None

    @property
    def idle(self) -> int:
        """Number of tunnels that wait for a program."""
        return len(self._idle)

    @property
    def busy(self) -> int:
        """Number of tunnels that a program uses."""
        return len(self._busy)

    async def begin(self) -> None:
        """Opens the first tunnel, without waiting for it."""
        self._task = self._loop.create_task(self._keep())

    def close(self) -> None:
        """Closes every tunnel and returns when they are gone. Safe to call twice."""
        if not self._loop.is_closed():
            asyncio.run_coroutine_threadsafe(self.stop(), self._loop).result(10.0)

    async def stop(self) -> None:
        """Like `close`, from the loop."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _keep(self) -> None:
        """Keeps the number of idle tunnels; closes all when it is cancelled."""
        try:
            while True:
                self._changed.clear()
                while len(self._idle) < self._idle_target and len(self._idle) + len(self._busy) < MOST_LINES:
                    self._open()
                await self._changed.wait()
        finally:
            lines = self._idle | self._busy
            for line in lines:
                line.cancel()
            await asyncio.gather(*lines, return_exceptions=True)

    def _open(self) -> None:
        line = asyncio.create_task(self._line())
        self._idle.add(line)
        line.add_done_callback(self._on_end)

    def _on_end(self, line: "asyncio.Task[None]") -> None:
        self._idle.discard(line)
        self._busy.discard(line)
        self._changed.set()

    async def _line(self) -> None:
        """One tunnel, from opening to end."""
        try:
            async with self._connection() as socket:
                first = await socket.recv(decode=False)
                self._hand_over()
                await self._carry(first, socket)
        except (OSError, TimeoutError, WebSocketException) as error:
            logger.debug("tunnel to a machine ended: %s", error)
            await self._rest()

    def _connection(self) -> connect:
        options = {**_OPTIONS, "additional_headers": {"Authorization": f"Bearer {self._secret}"}}
        parts = urlsplit(self._address)
        if parts.scheme == "unix":
            return unix_connect(parts.path, "ws://guest/egress", **options)
        return connect(f"ws://{parts.netloc}{parts.path.rstrip('/')}/egress", proxy=None, **options)

    def _hand_over(self) -> None:
        """A program uses this tunnel: it is not idle any more, and another one may be opened."""
        line = asyncio.current_task()
        self._pause, self._idle_target = _SHORTEST_PAUSE, IDLE_LINES
        if line is not None:
            self._idle.discard(line)
            self._busy.add(line)
            self._changed.set()

    async def _rest(self) -> None:
        """Waits before the next try after a refusal."""
        line = asyncio.current_task()
        if line in self._idle:
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._pause):
                    await asyncio.Event().wait()

    async def _carry(self, first: bytes, socket: ClientConnection) -> None:
        reader, writer = await asyncio.open_unix_connection(str(self._gateway))
        try:
            async with asyncio.TaskGroup() as ways:
                ways.create_task(_inward(reader, socket))
                ways.create_task(_outward(first, socket, writer))
        except* (OSError, WebSocketException):
            logger.debug("tunnel: a machine's connection ended early")
        finally:
            writer.close()


async def _outward(first: bytes, socket: ClientConnection, writer: asyncio.StreamWriter) -> None:
    data = first
    while data != _END:
        writer.write(data)
        await writer.drain()
        data = await socket.recv(decode=False)
    writer.write_eof()


async def _inward(reader: asyncio.StreamReader, socket: ClientConnection) -> None:
    while data := await reader.read(_PIECE):
        await socket.send(data)
    await socket.send(_END)
