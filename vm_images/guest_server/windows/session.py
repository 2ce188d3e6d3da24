"""A Windows desktop's guest server: `python -m guest_server.windows.session`.

Runs in the session of the logged-on user and serves the API of that desktop. The secret is the first line of standard
input or of the named file. Prints one JSON line when the API is ready. Exit code: 0 when asked to end, 1 if it cannot
continue.
"""

import argparse
import asyncio
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from guest_server.protocol.errors import GuestError, StartError
from guest_server.protocol.machine import Machine
from guest_server.protocol.secret import Secret, read_secret
from guest_server.windows.dpi_awareness import see_real_pixels
from guest_server.windows.environment import WindowsConfig, read_config

_LOG_BYTES, _LOG_FILES = 2**20, 3
_log = logging.getLogger("guest_server")


class WindowsSessionBase:
    """See `serving.SessionBase`: Windows itself, which ends programs by Ctrl+C or Ctrl+Break of their console."""

    def watch(self, machine: Machine, fail: Callable[[str], None]) -> None:  # noqa: ARG002 - nothing can fail.
        """Ends when the console signals it."""
        loop = asyncio.get_running_loop()

        def stop(*_: Any) -> None:
            loop.call_soon_threadsafe(machine.stopping.set)

        for name in ("SIGINT", "SIGBREAK", "SIGTERM"):
            number = getattr(signal, name, None)
            if number is not None:
                signal.signal(number, stop)


def run(config: WindowsConfig, secret: Secret, address: argparse.Namespace) -> int:
    """Runs the session to its end; returns the exit code."""
    start = time.monotonic()
    from guest_server.serving import serve, tell_ready
    from guest_server.windows.display import show_size
    from guest_server.windows.machine import windows_machine

    if config.virtual_machine and config.screen:
        show_size(*config.screen)
    try:
        machine = windows_machine(config, secret)
        facts = {"screen": [machine.screen.width, machine.screen.height], "pid": os.getpid()}
        problem = serve(machine, WindowsSessionBase(), address, lambda: tell_ready(start, facts))
    except (StartError, GuestError) as error:
        problem = str(error)
    if problem:
        _log.error("%s", problem)
        print(json.dumps({"ready": False, "error": problem}), file=sys.stderr, flush=True)
    return 1 if problem else 0


def main() -> None:
    """Reads arguments, environment and secret, and runs the session."""
    see_real_pixels()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="listen on this address")
    parser.add_argument("--port", type=int, default=5000)
    parser.add_argument("--secret-file", type=Path, help="read the secret from this file, not from standard input")
    parser.add_argument(
        "--virtual-machine", action="store_true", help="set its clock when told to; the worker keeps its way out open"
    )
    parser.add_argument("--log", type=Path, help="write what goes wrong to this file: pythonw has no console")
    arguments = parser.parse_args()
    if arguments.log:
        handler = RotatingFileHandler(arguments.log, maxBytes=_LOG_BYTES, backupCount=_LOG_FILES, encoding="utf-8")
        logging.basicConfig(handlers=[handler], format="%(asctime)s %(name)s %(levelname)s %(message)s")
    try:
        config = read_config(os.environ, virtual_machine=arguments.virtual_machine)
        secret = _secret(arguments.secret_file)
    except (ValueError, OSError, GuestError) as error:
        _log.error("%s", error)  # noqa: TRY400 - the message says it all.
        sys.exit(f"guest_server: {error}")
    code = run(config, secret, arguments)
    # At once, because a thread may still wait for a hanging program.
    os._exit(code)


def _secret(file: Path | None) -> Secret:
    return read_secret(0) if file is None else Secret(file.read_text("ascii").partition("\n")[0].strip())


if __name__ == "__main__":
    main()
