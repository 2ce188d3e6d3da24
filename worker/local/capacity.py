"""Whether this machine has room for one more desktop, and for how many in all."""

import os
import shutil
from pathlib import Path

from backend.domain.machines.slots import FreeResources
from worker.local.cgroups import CgroupParent, here
from worker.local.group_trial import V2
from worker.local.watchdog import host_memory


def free_memory() -> int:
    """Bytes that can still be used: of the host's memory, and of the control group that we ourselves are in."""
    left = [host_memory()[0]]
    for place in here()["memory"]:
        own = _left_in(place)
        if own is not None:
            left.append(own)
    return min(left)


def most_memory() -> int:
    """Bytes that this process and all that it starts may ever use: the host's, or less where a group bounds us."""
    limits = [host_memory()[1]]
    for place in here()["memory"]:
        try:
            limit = _limit_of(place)
        except OSError:
            continue
        if limit is not None:
            limits.append(limit)
    return min(limits)


def room_here(data: Path) -> FreeResources:
    """What desktops can have of this machine. Raises OSError if the data folder's disk cannot be asked."""
    folder = next(path for path in (data, *data.parents) if path.exists())
    return FreeResources(free_memory(), len(os.sched_getaffinity(0)), shutil.disk_usage(folder).free)


def _left_in(place: CgroupParent) -> int | None:
    """What a group may still take; None where it has no limit."""
    try:
        limit = _limit_of(place)
        used = Path(place.parent, "memory.current" if place.version == V2 else "memory.usage_in_bytes").read_text()
    except OSError:
        return None
    return None if limit is None else limit - int(used)


def _limit_of(place: CgroupParent) -> int | None:
    """A group's own limit; None where it has none. Raises OSError if it cannot be read."""
    limit = Path(place.parent, "memory.max" if place.version == V2 else "memory.limit_in_bytes").read_text().strip()
    return None if limit == "max" else int(limit)
