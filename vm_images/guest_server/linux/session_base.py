"""Base of a Linux session: its programs, and the signals that end it."""

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
import time
from collections.abc import Callable

from guest_server.linux.services import X_SERVERS, Services
from guest_server.protocol.machine import Machine

_ESSENTIAL = (*X_SERVERS.values(), "dbus-daemon", "openbox", "at-spi")
_NEWS_SECONDS = 1.0
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

_log = logging.getLogger("guest_server")


class LinuxSessionBase:
    """See `serving.SessionBase`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def watch(self, machine: Machine, fail: Callable[[str], None]) -> None:
        """Ends the session if the X server, the session bus, the window manager or the accessibility bus ends.

        A new window manager would move windows and close menus under an agent's hand, and its miss would be scored.
        Likewise an agent that suddenly sees no elements: programs do not reconnect to a new accessibility bus.
        """
        for number in _SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, machine.stopping.set)
        for name in self._services.processes:
            self._watch(name, machine, fail)

    def _watch(self, name: str, machine: Machine, fail: Callable[[str], None]) -> None:
        descriptor = os.pidfd_open(self._services.processes[name].pid)

        def ended() -> None:
            asyncio.get_running_loop().remove_reader(descriptor)
            os.close(descriptor)
            if not machine.stopping.is_set():
                self._on_end(name, fail)

        asyncio.get_running_loop().add_reader(descriptor, ended)

    def _on_end(self, name: str, fail: Callable[[str], None]) -> None:
        processes = self._services.processes
        code = processes[name].wait()
        if name in _ESSENTIAL:
            first = self._first_ended(name)
            fail(f"{first} ended with {processes[first].poll()}: the desktop cannot go on")
        else:
            _log.warning("%s ended with %s", name, code)

    def _first_ended(self, name: str) -> str:
        """The program whose end caused this one's, or itself.

        A dependent program may be noticed first: a large process closes its sockets before it is gone. Nobody is
        answered while this waits.
        """
        ends = time.monotonic() + _NEWS_SECONDS
        for service in _ESSENTIAL[: _ESSENTIAL.index(name)]:
            process = self._services.processes.get(service)
            if process is None:
                continue
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, ends - time.monotonic()))
                return service
        return name
