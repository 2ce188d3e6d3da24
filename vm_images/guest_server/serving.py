"""Serves the API of a running session until it ends."""

import argparse
import asyncio
import contextlib
import json
import os
import socket
import time
from collections.abc import Callable, Mapping
from typing import Protocol

from aiohttp import web

from guest_server import API_VERSION
from guest_server.app import build_app
from guest_server.keyboard.socket_server import serve_keyboard
from guest_server.protocol.errors import StartError
from guest_server.protocol.machine import Machine
from guest_server.routes import egress

_SHUTDOWN_SECONDS = 1.0
_KEEPALIVE_SECONDS = 600.0


class SessionBase(Protocol):
    """Base of a session: what it depends on."""

    def watch(self, machine: Machine, fail: Callable[[str], None]) -> None:
        """Starts watching, in the running event loop.

        Args:
            machine: its `stopping` is set when the system tells the session to end.
            fail: called in the loop with the problem when the session cannot continue.
        """
        ...


def serve(machine: Machine, ground: SessionBase, address: argparse.Namespace, ready: Callable[[], None]) -> str:
    """Serves until the session is asked to end or cannot continue; returns why it cannot, empty if asked to."""
    return asyncio.run(_Server(machine).run(ground, listener(address), ready))


def tell_ready(start: float, facts: Mapping[str, object]) -> None:
    """Prints the line that reports that the API is ready.

    Args:
        start: `time.monotonic()` at the session's beginning.
        facts: additional fields.
    """
    seconds = round(time.monotonic() - start, 3)
    print(json.dumps({"ready": True, "api": API_VERSION, "seconds": seconds, **facts}), flush=True)


def listener(address: argparse.Namespace) -> socket.socket:
    """The socket to serve on: inherited and listening, or a TCP port.

    Raises:
        StartError: There is none.
    """
    try:
        if address.host:
            family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
            return socket.create_server((address.host, address.port), family=family)
        return socket.socket(fileno=int(os.environ["DESKARENA_LISTEN_FD"]))
    except KeyError:
        raise StartError(
            "give DESKARENA_LISTEN_FD (a listening socket) or --host and --port", code="no_socket"
        ) from None
    except (OSError, ValueError) as error:
        raise StartError(f"the API's socket cannot be used: {error}", code="socket_unusable") from None


class _Server:
    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._problem = ""
        self._relays: list[asyncio.AbstractServer] = []

    async def run(self, ground: SessionBase, sock: socket.socket, ready: Callable[[], None]) -> str:
        sock.set_inheritable(False)
        runner = web.AppRunner(build_app(self._machine), access_log=None, keepalive_timeout=_KEEPALIVE_SECONDS)
        await runner.setup()
        await web.SockSite(runner, sock).start()
        ground.watch(self._machine, self._fail)
        started = (await egress.start_relay(self._machine), await serve_keyboard(self._machine))
        self._relays += [process for process in started if process is not None]
        # In a thread: querying Windows' licence takes seconds.
        await asyncio.to_thread(self._machine.health.settled)
        ready()
        warming = asyncio.create_task(self._warm())
        await self._machine.stopping.wait()
        await asyncio.wait({warming}, timeout=_SHUTDOWN_SECONDS)
        warming.cancel()
        await self._end(runner)
        return self._problem

    async def _warm(self) -> None:
        """Imports and starts what the first requests need, after the ready report."""
        await self._machine.accessibility.start()
        await self._machine.blocking(_first_picture, self._machine)

    async def _end(self, runner: web.AppRunner) -> None:
        self._machine.commands.stop_all()
        for relay in self._relays:
            relay.close()
        await self._machine.interactions.stop()
        await self._machine.accessibility.stop()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2 * _SHUTDOWN_SECONDS):
                await runner.cleanup()

    def _fail(self, problem: str) -> None:
        self._problem = problem
        self._machine.stopping.set()


def _first_picture(machine: Machine) -> None:
    """Imports the image library, which takes longer than a picture."""
    from guest_server.protocol.frames import to_jpeg

    to_jpeg(machine.screen.peek(), quality=50)
