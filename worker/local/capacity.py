"""Whether this machine has room for another desktop, and for how many in total."""

import os
import shutil
from pathlib import Path

from backend.domain.machines.slots import FreeResources
from worker.local.cgroups import CgroupParent, here
from worker.local.group_trial import V2
from worker.local.watchdog import host_memory


def free_memory() -> int:
    """Free bytes of memory: of the host, and of our own control group."""
    limits = [host_memory()[0]]
    for group in here()["memory"]:
        own = _left_in(group)
        if own is not None:
            limits.append(own)
    return min(limits)


def most_memory() -> int:
    """Maximum bytes that this process and its children may use: the host's, or a control group's limit."""
    limits = [host_memory()[1]]
    for group in here()["memory"]:
        try:
            limit = _limit_of(group)
        except OSError:
            continue
        if limit is not None:
            limits.append(limit)
    return min(limits)


def free_resources(data: Path) -> FreeResources:
    """Resources of this machine for desktops. Raises OSError if the data folder's disk cannot be queried."""
    folder = next(path for path in (data, *data.parents) if path.exists())
    return FreeResources(free_memory(), len(os.sched_getaffinity(0)), shutil.disk_usage(folder).free)


def _left_in(group: CgroupParent) -> int | None:
    """Free memory of a group; None without a limit."""
    try:
        limit = _limit_of(group)
        used = Path(group.parent, "memory.current" if group.version == V2 else "memory.usage_in_bytes").read_text()
    except OSError:
        return None
    return None if limit is None else limit - int(used)


def _limit_of(group: CgroupParent) -> int | None:
    """A group's own limit; None without one. Raises OSError if it cannot be read."""
    limit = Path(group.parent, "memory.max" if group.version == V2 else "memory.limit_in_bytes").read_text().strip()
    return None if limit == "max" else int(limit)
