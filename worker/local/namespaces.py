"""How the stage gets a mount namespace in which it may mount, in three situations.

  - Root of the host: needs no user namespace. Mounts are made as root, and root is dropped afterwards.
- An ordinary user: a user namespace, in which that user counts as root.
  - Root of a container without CAP_SYS_ADMIN: a user namespace, in which the desktop's user id counts as root. A helper
  outside writes that mapping, which needs only CAP_SETUID.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from worker.local import kernel

_CAP_SYS_ADMIN = 21
_OWN = kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC


@dataclass(frozen=True)
class MountSetup:
    """Situation of the stage.

    Attributes:
        in_user_namespace: overlays must store their marks in user attributes.
        owner: owner of everything that the desktop may change, and user to change to at the end; None if the stage
            already is that user.
    """

    in_user_namespace: bool
    owner: tuple[int, int] | None


def may_mount(status: str) -> bool:
    """Whether a process with this /proc/self/status has CAP_SYS_ADMIN."""
    line = next(line for line in status.splitlines() if line.startswith("CapEff:"))
    return bool(int(line.split()[1], 16) >> _CAP_SYS_ADMIN & 1)


def leave(user: tuple[int, int] | None) -> MountSetup:
    """Leaves the host's mount and IPC namespaces. Raises OSError.

    Args:
        user: (uid, gid) of the desktop on the host; None = those of this process.
    """
    if user is None:
        uid, gid = os.getuid(), os.getgid()
        kernel.unshare(_OWN | kernel.CLONE_NEWUSER)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
        Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
        return MountSetup(in_user_namespace=True, owner=None)
    if may_mount(Path("/proc/self/status").read_text()):
        kernel.unshare(_OWN)
        return MountSetup(in_user_namespace=False, owner=user)
    _unshare_with_helper(*user)
    return MountSetup(in_user_namespace=True, owner=None)


def settle(user: tuple[int, int] | None, footing: MountSetup) -> None:
    """Changes to the mapped user if a helper has mapped another one. Files are opened before."""
    if user is not None and footing.in_user_namespace:
        become(0, 0)


def become(uid: int, gid: int) -> None:
    """Changes user and group permanently. On the host all capabilities are dropped with root."""
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def _unshare_with_helper(uid: int, gid: int) -> None:
    """Creates a user namespace in which `uid` is root. Raises OSError."""
    reader, tell = os.pipe()
    stage = os.getpid()
    helper = os.fork()
    if helper == 0:
        os.close(tell)
        os._exit(_map(stage, reader, uid, gid))
    os.close(reader)
    kernel.unshare(_OWN | kernel.CLONE_NEWUSER)
    os.write(tell, b"x")
    os.close(tell)
    _, status = os.waitpid(helper, 0)
    if status:
        code = os.waitstatus_to_exitcode(status)
        raise OSError(code, f"the user namespace could not be mapped: {os.strerror(abs(code))}")


def _map(stage: int, reader: int, uid: int, gid: int) -> int:
    """The helper's work; its exit status is an errno."""
    try:
        if os.read(reader, 1):
            Path(f"/proc/{stage}/uid_map").write_text(f"0 {uid} 1")
            Path(f"/proc/{stage}/gid_map").write_text(f"0 {gid} 1")
    except OSError as error:
        return error.errno or 1
    return 0
