"""Performs privileged operations for a desktop: `python3 -m guest_server.linux.root_helper` behind a systemd socket.

It accepts one connection in its life, from the guest server, which connects before an agent or task is there. So nobody
else in the machine can use it. Requests and answers are lines of JSON.
"""

import base64
import fcntl
import json
import os
import shutil
import socket
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_LONGEST_LINE = 256 * 1024
_RNDADDENTROPY, _RNDRESEEDCRNG = 0x40085203, 0x5207
_BITS = 8
_FROM_SYSTEMD = 3
"""File descriptor of the first socket, see sd_listen_fds(3)."""


@dataclass(frozen=True)
class SystemPaths:
    """Paths in the machine.

    Attributes:
        bundle: the authorities that programs trust, PEM.
        policies: Chromium's policy folder; it has its own list of authorities and ignores the system's files.
    """

    random: Path = Path("/dev/random")
    bundle: Path = Path("/etc/ssl/certs/ca-certificates.crt")
    policies: Path = Path("/etc/chromium/policies")


class RootHelperProcess:
    """Performs the requests of one connection."""

    def __init__(self, places: SystemPaths, set_clock: Callable[[int, float], None] = time.clock_settime) -> None:
        """Args: places: paths; set_clock: the system's, or a test's."""
        self._places, self._set_clock = places, set_clock
        self._known = places.bundle.read_bytes() if places.bundle.exists() else None

    def do(self, request: Mapping[str, Any]) -> None:
        """Performs one request.

        Raises:
            ValueError: It is not valid.
            OSError: the system refuses.
        """
        doing: dict[str, Callable[[Any], None]] = {"clock": self._clock, "entropy": self._entropy, "trust": self._trust}
        if request.get("do") not in doing:
            raise ValueError(f"unknown request; known: {', '.join(doing)}")
        doing[request["do"]](request.get("value"))

    def _clock(self, value: Any) -> None:
        self._set_clock(time.CLOCK_REALTIME, float(value))

    def _entropy(self, value: Any) -> None:
        data = base64.b64decode(value, validate=True)
        with self._places.random.open("wb") as device:
            fcntl.ioctl(device, _RNDADDENTROPY, struct.pack("ii", len(data) * _BITS, len(data)) + data)
            fcntl.ioctl(device, _RNDRESEEDCRNG)

    def _trust(self, value: Any) -> None:
        certificate = str(value).encode()
        if self._known is not None:
            self._places.bundle.write_bytes(self._known + (b"\n" + certificate if certificate else b""))
        if self._places.policies.exists():
            shutil.rmtree(self._places.policies)
        if certificate:
            managed = self._places.policies / "managed"
            managed.mkdir(parents=True)
            base = "".join(line for line in str(value).splitlines() if not line.startswith("-----"))
            (managed / "deskarena.json").write_text(json.dumps({"CACertificates": [base]}))


def answer(helper: RootHelperProcess, line: bytes) -> bytes:
    """The answer to a line."""
    try:
        helper.do(dict(json.loads(line)))
    except (OSError, ValueError, TypeError) as error:
        return json.dumps({"error": f"{type(error).__name__}: {error}"[:1000]}).encode() + b"\n"
    return b"{}\n"


def serve(helper: RootHelperProcess, listener: socket.socket) -> None:
    """Takes one connection and answers until it ends.

    Args:
        helper: performs the requests.
        listener: the socket; closed after the first connection.
    """
    with listener:
        connection, _ = listener.accept()
    with connection, connection.makefile("rb") as lines:
        while line := lines.readline(_LONGEST_LINE):
            connection.sendall(answer(helper, line))


def main() -> None:
    """Serves on the socket created by systemd."""
    os.umask(0o022)
    serve(RootHelperProcess(SystemPaths()), socket.socket(fileno=_FROM_SYSTEMD))


if __name__ == "__main__":
    main()
