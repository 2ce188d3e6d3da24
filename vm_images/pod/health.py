"""Checks whether the supervisor of this pod is running: exit code 0 if it is, 1 with the reason if not.

It does not connect, because a connection needs the token. Workers check the machines themselves before each attempt.
"""

import os
import sys
from pathlib import Path

LISTENING = "0A"
STOPPED = frozenset("TtZX")
"""States of an inactive process: stopped, traced, ended. proc(5)."""


def port() -> int:
    """The supervisor's port."""
    return int(os.environ.get("DESKARENA_POD_LISTEN", "0.0.0.0:7070").rpartition(":")[2])


def listened_on(number: int, net: Path = Path("/proc/net")) -> bool:
    """Whether something in this network namespace listens on that TCP port."""
    tables = [(net / name).read_text() for name in ("tcp", "tcp6") if (net / name).exists()]
    # Columns of proc_net_tcp: a number, local address, remote address, state. The first line names them.
    columns = [line.split() for table in tables for line in table.splitlines()[1:]]
    return any(column[1].endswith(f":{number:04X}") and column[3] == LISTENING for column in columns)


def state(stat: Path) -> str:
    """The state of a process, one letter."""
    # The program's name is in brackets and may contain anything, including brackets.
    return stat.read_text().rpartition(")")[2].split()[0]


def problem(pid: int = 1) -> str:
    """The problem, empty if there is none."""
    if state(Path(f"/proc/{pid}/stat")) in STOPPED:
        return f"process {pid} is stopped"
    if not listened_on(port()):
        return f"nothing listens on port {port()}"
    return ""


if __name__ == "__main__":
    fault = problem(int(os.environ.get("DESKARENA_POD_PID", "1")))
    print(fault or "well")
    sys.exit(1 if fault else 0)
