"""Starts a desktop supervisor: `python -m worker.desktop_supervisor FD WORKER JSON`. See client.py."""

import json
import socket
import sys
from pathlib import Path

from worker.base.json_lines import encode
from worker.desktop_supervisor.server import Config, DesktopSupervisor


def main() -> int:
    """Runs until the worker is gone. Returns the exit status."""
    connection = socket.socket(fileno=int(sys.argv[1]))
    connection.set_inheritable(False)
    options = json.loads(sys.argv[3])
    config = Config(
        cache=Path(options["cache"]),
        server=Path(options["server"]),
        site=Path(options["site"]),
        private=tuple(Path(path) for path in options["private"]),
        wine=Path(options["wine"]) if options["wine"] else None,
        overlay=options["overlay"],
        groups=options["groups"],
    )
    try:
        supervisor = DesktopSupervisor(connection, config, int(sys.argv[2]))
    except (OSError, ValueError, RuntimeError) as error:
        connection.sendall(encode({"event": "failed", "error": f"{type(error).__name__}: {error}"}))
        return 1
    supervisor.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
