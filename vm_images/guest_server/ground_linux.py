"""What a Linux session stands on: the programs of its desktop, and the signals that end it."""

import asyncio
import logging
import os
import signal
from collections.abc import Callable

from .machine import Machine
from .services_linux import X_SERVERS, Services, start_openbox

_ESSENTIAL = (*X_SERVERS.values(), "dbus-daemon")
_MOST_RESTARTS = 5
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

_log = logging.getLogger("guest_server")


class LinuxGround:
    """See `serving.Ground`."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._restarts = 0

    def watch(self, machine: Machine, fail: Callable[[str], None]) -> None:
        """Starts the window manager again when it ends; without the X server or the session bus nothing goes on."""
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
                self._ended(name, machine, fail)

        asyncio.get_running_loop().add_reader(descriptor, ended)

    def _ended(self, name: str, machine: Machine, fail: Callable[[str], None]) -> None:
        code = self._services.processes[name].wait()
        if name == "openbox" and self._restarts < _MOST_RESTARTS:
            self._restarts += 1
            _log.warning("openbox ended with %s and is started again", code)
            start_openbox(self._services, machine.environment)
            self._watch(name, machine, fail)
        elif name in _ESSENTIAL:
            fail(f"{name} ended with {code}: the desktop cannot go on")
        else:
            _log.warning("%s ended with %s", name, code)
