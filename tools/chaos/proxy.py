"""Proxied connections that can be cut and slowed: a separate process, one task per direction.

`python -m tools.chaos.proxy` reads one line of JSON, `{name: upstream}` where an upstream is a port of this machine or
the path of a unix socket, and answers `{name: port}`. Every further line is `{"link": name, "mode": mode, ...}` and is
answered by `{}` once it is in force. It ends with its standard input.
"""

import asyncio
import json
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CHUNK = 64 * 1024
RESET = struct.pack("ii", 1, 0)
"""SO_LINGER with no time: closing sends RST."""


class LinkMode(StrEnum):
    """Behavior of a link."""

    PASS = "pass"
    HOLE = "hole"
    """Accepts everything and forwards nothing; held data is forwarded afterwards."""
    SLOW = "slow"
    """Forwards with a delay and a limited rate."""
    MUTE = "mute"
    """Present connections go silent for good, without an end; new ones work."""
    REFUSE = "refuse"
    """Resets every connection, also the new ones."""


class Link:
    """One line between two parts of the stack."""

    def __init__(self, upstream: int | str) -> None:
        self._upstream = upstream
        self._open = asyncio.Event()
        self._open.set()
        self._latency, self._rate = 0.0, 0.0
        self._refuse = False
        self._writers: set[asyncio.StreamWriter] = set()
        self._era = 0

    async def listen(self) -> int:
        """Listens on a free port; returns it."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port: int = server.sockets[0].getsockname()[1]
        return port

    def set(self, mode: LinkMode, *, latency: float = 0.0, rate: float = 0.0) -> None:
        """Changes what it does, also to the connections that there are."""
        self._latency, self._rate = (latency, rate) if mode is LinkMode.SLOW else (0.0, 0.0)
        self._refuse = mode is LinkMode.REFUSE
        if mode is LinkMode.MUTE:
            self._era += 1
        if mode is LinkMode.REFUSE:
            self.reset()
        if mode is LinkMode.HOLE:
            self._open.clear()
        else:
            self._open.set()

    def reset(self) -> None:
        """Ends all connections as a crashed router does."""
        for writer in list(self._writers):
            sock = writer.get_extra_info("socket")
            if sock.family != socket.AF_UNIX:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            await self._open.wait()
            if self._refuse:
                self.reset()
                return
            connection = await self._connect()
            if connection is not None:
                self._writers.add(connection[1])
                await asyncio.gather(self._pump(reader, connection[1]), self._pump(connection[0], writer))
                self._drop(connection[1])
        finally:
            self._drop(writer)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        try:
            if isinstance(self._upstream, int):
                return await asyncio.open_connection("127.0.0.1", self._upstream)
            return await asyncio.open_unix_connection(self._upstream)
        except OSError:
            return None

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hands on one direction, until either side ends; then both end."""
        era = self._era
        with suppress(OSError):
            while data := await reader.read(CHUNK):
                if era != self._era:
                    continue
                await self._delay(len(data))
                writer.write(data)
                await writer.drain()
        with suppress(OSError):
            await self._open.wait()
            writer.close()

    async def _delay(self, size: int) -> None:
        while self._latency or self._rate or not self._open.is_set():
            seconds = self._latency + (size / self._rate if self._rate else 0.0)
            await asyncio.sleep(seconds)
            await self._open.wait()
            return

    def _drop(self, writer: asyncio.StreamWriter) -> None:
        self._writers.discard(writer)
        with suppress(OSError):
            writer.close()


async def serve() -> None:
    """Serves until the standard input ends."""
    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    links = {name: Link(upstream) for name, upstream in json.loads(await commands.readline()).items()}
    _answer({name: await link.listen() for name, link in links.items()})
    while line := await commands.readline():
        command = json.loads(line)
        links[command.pop("link")].set(LinkMode(command.pop("mode")), **command)
        _answer({})
    # At once: what is still under way leads nowhere any more.
    os._exit(0)


def _answer(message: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


class LinkProcess:
    """The process of all links, as its owner sees it."""

    def __init__(self, upstreams: Mapping[str, int | str]) -> None:
        """Starts it; `ports` has the port of each link."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tools.chaos.proxy"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.ports: dict[str, int] = self._ask(dict(upstreams))

    @property
    def pid(self) -> int:
        return self._process.pid

    def set(self, link: str, mode: LinkMode, **options: float) -> None:
        """Changes one link; in force when this returns."""
        self._ask({"link": link, "mode": mode.value, **options})

    def close(self) -> None:
        """Ends it. Safe to call twice."""
        if self._process.stdin is not None and self._process.stdout is not None:
            self._process.stdin.close()
            self._process.stdout.close()
        self._process.wait(10)

    def _ask(self, message: Mapping[str, Any]) -> dict[str, int]:
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the lines were closed")
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        answer: dict[str, int] = json.loads(self._process.stdout.readline())
        return answer


if __name__ == "__main__":
    asyncio.run(serve())
