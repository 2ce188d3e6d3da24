"""A whole desktop session: `python3 -m guest_server.linux.session`.

Starts the X server, session bus, accessibility bus and window manager, then serves the API. The first line of stdin is
the secret. Prints one JSON line when the API is ready. Ends everything with exit code 1 when one of those programs
dies, and 0 when it is asked to end.

The order is chosen for speed: slow imports happen while the programs start.
"""

import argparse
import importlib
import os
import signal
import sys
import time
from typing import TYPE_CHECKING

from guest_server.linux.environment import SessionConfig, children_environment, read_config
from guest_server.linux.services import (
    END_SIGNALS,
    X_SERVERS,
    Services,
    conclude,
    hide_memory,
    start_accessibility,
    start_bus,
    start_openbox,
    start_x,
    use_up_process_ids,
)
from guest_server.linux.spawner import Spawner
from guest_server.protocol.errors import GuestError
from guest_server.protocol.secret import Secret, read_secret

if TYPE_CHECKING:
    from guest_server.protocol.machine import Machine


def boot(services: Services, config: SessionConfig, secret: Secret) -> "tuple[Machine, str]":
    """Starts the programs and returns when the desktop is usable."""
    display_pipe = start_x(services, config)
    _import_ahead("asyncio", "ssl", "email.message", "http.cookies")
    display = f":{services.answer(X_SERVERS[config.x_server], display_pipe, config.limits.start_seconds)}"
    environment = children_environment(config, display)
    os.environ["XAUTHORITY"] = environment["XAUTHORITY"]  # python-xlib reads it from there only.
    bus_pipe = start_bus(services, config, environment)
    start_openbox(services, environment)
    services.answer("dbus-daemon", bus_pipe, config.limits.start_seconds)
    start_accessibility(services, environment)
    _import_ahead("aiohttp.web", "Xlib.display")

    from guest_server.linux.desktop import prepare_desktop
    from guest_server.linux.machine import linux_machine

    machine = linux_machine(config, secret, display, environment, services.spawner)
    prepare_desktop(services, config, environment, display)
    return machine, display


def _import_ahead(*names: str) -> None:
    """Imports modules while it would only be waiting."""
    for name in names:
        importlib.import_module(name)


def run(config: SessionConfig, secret: Secret, address: argparse.Namespace) -> int:
    """Runs the session until it ends; the exit code."""
    start = time.monotonic()
    services = Services(Spawner(protected=config.protected_pids > 0))

    def work() -> str:
        machine, display = boot(services, config, secret)
        use_up_process_ids(config.protected_pids)
        from guest_server.linux.session_base import LinuxSessionBase
        from guest_server.serving import serve, tell_ready

        facts = {"display": display, "screen": [machine.screen.width, machine.screen.height], "pid": os.getpid()}
        return serve(machine, LinuxSessionBase(services), address, lambda: tell_ready(start, facts))

    return conclude(services, work)


def main() -> None:
    """Parses arguments, environment and secret, and runs the session."""
    hide_memory()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", help="listen on this address instead of DESKARENA_LISTEN_FD")
    parser.add_argument("--port", type=int, default=5000)
    arguments = parser.parse_args()
    try:
        config = read_config(os.environ)
        secret = read_secret(0)
    except (ValueError, GuestError) as error:
        sys.exit(f"guest_server: {error}")
    for number in END_SIGNALS:
        signal.signal(number, signal.default_int_handler)
    code = run(config, secret, arguments)
    sys.stdout.flush()
    # At once: a thread may still be waiting for a program that no longer responds.
    os._exit(code)


if __name__ == "__main__":
    main()
