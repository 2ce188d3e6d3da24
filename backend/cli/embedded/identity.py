"""User ids of the embedded database and broker.

PostgreSQL refuses to run as root, and a broker need not. The wheels' own helpers add a system user; we do not: an
unused numeric user id is enough for a process and its files.
"""

import grp
import hashlib
import os
import pwd
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

import psutil

from backend.cli.embedded.process_spawn import Identity
from backend.cli.errors import StackError

# Above the ids of people, below those of systemd, container tools and our own desktops (61000 and up).
FIRST_ID, ID_COUNT = 60300, 700
# Each kind of server has its own range, so that the two of a data folder never share an id.
Purpose = Literal["postgres", "broker"]
_PURPOSES: tuple[Purpose, ...] = get_args(Purpose)


def server_identity(folder: Path, purpose: Purpose) -> Identity | None:
    """User for a server whose files are in `folder`: the folder's owner, or an unused id.

    Args:
        folder: The server's folder; need not exist yet.
        purpose: Kind of server, which determines the range of ids.

    Returns:
        None if we are not root: then everything runs as the current user.

    Raises:
        StackError: No id is free.
    """
    if os.geteuid() != 0:
        return None
    if folder.exists() and (owner := folder.stat()).st_uid != 0:
        return Identity(uid=owner.st_uid, gid=owner.st_gid)
    used_ids = {uid for process in psutil.process_iter(["uids"]) if (uids := process.info["uids"]) for uid in uids}
    for number in _candidates(folder, purpose):
        if number not in used_ids and not _has_name(number):
            return Identity(uid=number, gid=number)
    raise StackError(
        "No free user id for the embedded servers. Run as an ordinary user instead.", code="no_server_user"
    )


def named_identity() -> Identity:
    """An unprivileged user with a name, which `initdb` requires and the servers do not.

    Raises:
        StackError: This machine has no user but root.
    """
    entries = sorted(pwd.getpwall(), key=lambda entry: entry.pw_name != "nobody")
    for entry in entries:
        if entry.pw_uid != 0 and _is_mapped(entry.pw_uid) and _is_mapped(entry.pw_gid):
            return Identity(uid=entry.pw_uid, gid=entry.pw_gid)
    raise StackError(
        "PostgreSQL's initdb needs a user other than root in /etc/passwd, and there is none. "
        "Add one, or set DATABASE_URL.",
        code="no_server_user",
    )


def _candidates(folder: Path, purpose: Purpose) -> Iterator[int]:
    start = int.from_bytes(hashlib.sha256(str(folder).encode()).digest()[:4])
    ids = range(FIRST_ID, FIRST_ID + ID_COUNT)[_PURPOSES.index(purpose) :: len(_PURPOSES)]
    for step in range(len(ids)):
        number = ids[(start + step) % len(ids)]
        if _is_mapped(number):
            yield number


def _has_name(number: int) -> bool:
    try:
        pwd.getpwuid(number)
    except KeyError:
        pass
    else:
        return True
    try:
        grp.getgrgid(number)
    except KeyError:
        return False
    return True


def _is_mapped(number: int) -> bool:
    # A rootless container has only some ids.
    lines = Path("/proc/self/uid_map").read_text().splitlines()
    return any(int(first) <= number < int(first) + int(count) for first, _, count in (line.split() for line in lines))
