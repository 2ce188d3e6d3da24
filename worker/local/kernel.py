"""System calls for which Python 3.11 has no function."""

import ctypes
import os
from pathlib import Path

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000
MNT_DETACH = 2
_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_CHILD_SUBREAPER = 36

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, operation: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{operation}: {os.strerror(code)}")


def unshare(flags: int) -> None:
    """Leaves the namespaces named by `flags`. Raises OSError."""
    _check(_libc.unshare(flags), f"unshare({flags:#x})")


def mount(source: str, target: str | Path, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mounts `source` at `target`. Raises OSError naming target and type."""
    result = _libc.mount(
        source.encode(),
        str(target).encode(),
        kind.encode() or None,
        ctypes.c_ulong(flags),
        options.encode() or None,
    )
    _check(result, f"mount {kind or 'bind'} on {target}")


def unmount(target: str | Path) -> None:
    """Detaches a mount. Raises OSError."""
    _check(_libc.umount2(str(target).encode(), MNT_DETACH), f"unmount {target}")


def die_with_parent(signal_number: int) -> None:
    """Requests a signal when the thread that started this process ends. Cleared when credentials change."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0), "PR_SET_PDEATHSIG")


def forbid_new_privileges() -> None:
    """From now on no set-uid program gives this process privileges."""
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS")


def adopt_orphans() -> None:
    """Makes this process the parent of its orphaned descendants, so that it can reap them.

    Otherwise they are reparented to the host's process 1, which in many containers reaps nothing.
    """
    _check(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "PR_SET_CHILD_SUBREAPER")
