"""Powers a machine off whose guest server has stopped answering: `python3 -m guest_server.linux.watchdog`, as root.

No program of the desktop can end this one, and a machine that powers itself off tells its host that its failure came
from inside. Rounds are counted, not seconds: a machine that its host had paused has missed none.
"""

import ctypes
import socket
import time
from collections.abc import Callable

ROUNDS = 15
"""Rounds without an answer, each of one or two seconds."""
_PAUSE = _PATIENCE = 1.0
_PORT = 5000
_POWER_OFF = 0x4321FEDC


def answers(port: int = _PORT) -> bool:
    """Whether the guest server answers a request, even if only by refusing it."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE) as connection:
            connection.sendall(b"GET /probe HTTP/1.0\r\n\r\n")
            return bool(connection.recv(1))
    except OSError:
        return False


def watch(ask: Callable[[], bool], pause: Callable[[float], None] = time.sleep) -> None:
    """Returns once there was no answer in `ROUNDS` rounds in a row, after there had been one."""
    unanswered, ready = 0, False
    while unanswered < ROUNDS:
        pause(_PAUSE)
        if ask():
            unanswered, ready = 0, True
        elif ready:
            unanswered += 1


def main() -> None:
    """Watches, and powers the machine off."""
    watch(answers)
    ctypes.CDLL(None).reboot(_POWER_OFF)


if __name__ == "__main__":
    main()
