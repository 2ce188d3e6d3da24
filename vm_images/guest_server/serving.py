"""Serves the API of a running session and watches the programs that it stands on."""

import argparse
import asyncio
import contextlib
import logging
import os
import signal
import socket
from collections.abc import Callable

from aiohttp import web

from . import egress
from .a11y_linux import AtSpi
from .app import build_app
from .machine import Machine
from .services_linux import Services, StartError, start_openbox

_ESSENTIAL = ("Xvfb", "dbus-daemon")
_MOST_RESTARTS = 5
_SHUTDOWN_SECONDS = 1.0
_KEEPALIVE_SECONDS = 600.0

_log = logging.getLogger("guest_server")


def serve(machine: Machine, services: Services, address: argparse.Namespace, ready: Callable[[], None]) -> str:
    """Serves until the session is told to end or cannot go on; says why it cannot, empty if told to."""
    return asyncio.run(_Server(machine, services).run(listener(address), ready))


def listener(address: argparse.Namespace) -> socket.socket:
    """The socket to serve on: inherited and listening, or a TCP port of our own.

    Raises:
        StartError: there is none.
    """
    try:
        if address.host:
            family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
            return socket.create_server((address.host, address.port), family=family)
        return socket.socket(fileno=int(os.environ["DESKARENA_LISTEN_FD"]))
    except KeyError:
        raise StartError("give DESKARENA_LISTEN_FD (a listening socket) or --host and --port") from None
    except (OSError, ValueError) as error:
        raise StartError(f"the API's socket cannot be used: {error}") from None


class _Server:
    def __init__(self, machine: Machine, services: Services) -> None:
        self._machine = machine
        self._services = services
        self._problem = ""
        self._restarts = 0
        self._relay: asyncio.AbstractServer | None = None

    async def run(self, sock: socket.socket, ready: Callable[[], None]) -> str:
        sock.set_inheritable(False)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self._machine.stopping.set)
        runner = web.AppRunner(build_app(self._machine), access_log=None, keepalive_timeout=_KEEPALIVE_SECONDS)
        await runner.setup()
        await web.SockSite(runner, sock).start()
        for name in self._services.processes:
            self._watch(name)
        self._relay = await egress.start_relay(self._machine)
        ready()
        warming = asyncio.create_task(self._warm())
        await self._machine.stopping.wait()
        await asyncio.wait({warming}, timeout=_SHUTDOWN_SECONDS)
        warming.cancel()
        await self._end(runner)
        return self._problem

    async def _warm(self) -> None:
        """Imports and starts what the first requests need, once nobody waits for us any more."""
        if isinstance(self._machine.accessibility, AtSpi):
            await self._machine.accessibility.start()
        await self._machine.blocking(_first_picture, self._machine)

    async def _end(self, runner: web.AppRunner) -> None:
        self._machine.commands.stop_all()
        if self._relay is not None:
            self._relay.close()
        await self._machine.interactions.stop()
        if isinstance(self._machine.accessibility, AtSpi):
            await self._machine.accessibility.stop()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(runner.cleanup(), 2 * _SHUTDOWN_SECONDS)

    def _watch(self, name: str) -> None:
        descriptor = os.pidfd_open(self._services.processes[name].pid)
        asyncio.get_running_loop().add_reader(descriptor, self._ended, name, descriptor)

    def _ended(self, name: str, descriptor: int) -> None:
        asyncio.get_running_loop().remove_reader(descriptor)
        os.close(descriptor)
        if self._machine.stopping.is_set():
            return
        code = self._services.processes[name].wait()
        if name == "openbox" and self._restarts < _MOST_RESTARTS:
            self._restarts += 1
            _log.warning("openbox ended with %s and is started again", code)
            start_openbox(self._services, self._machine.environment)
            self._watch(name)
        elif name in _ESSENTIAL:
            self._problem = f"{name} ended with {code}: the desktop cannot go on"
            self._machine.stopping.set()
        else:
            _log.warning("%s ended with %s", name, code)


def _first_picture(machine: Machine) -> None:
    """Imports the image library, which takes longer than a picture."""
    from .frames import to_jpeg

    to_jpeg(machine.screen.peek(), quality=50)
