"""Free memory of the machine."""

import os
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")


def free_memory() -> int | None:
    """Bytes that programs can still allocate, None if unknown."""
    if os.name == "nt":
        from guest_server.windows.health_sources import free_memory as windows_free_memory

        return windows_free_memory()
    if not _MEMINFO.is_file():
        return None
    for line in _MEMINFO.read_text("ascii").splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) * 1024
    return None
