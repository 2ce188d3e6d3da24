"""Measured accelerations of this host on its disk. The standard library only: this runs in pods, too."""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, flock
from pathlib import Path

from worker.local.folders import private_folder
from worker.qemu.acceleration import DEVICE, Acceleration
from worker.qemu.arguments import PROGRAM

MODULES = Path("/sys/module")


class AccelerationCache:
    """Cached measurement, valid until this host, its kernel modules, its QEMU or the user's rights change."""

    def __init__(self, file: Path | None, key: str) -> None:
        """Args: file: None = no cache."""
        self._file, self._key = file, key

    def read(self) -> Acceleration | None:
        """None if there is no valid one."""
        try:
            value = json.loads(self._file.read_text()) if self._file else {}
            return Acceleration.from_json(value["acceleration"]) if value["key"] == self._key else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, choice: Acceleration) -> None:
        """Replaces it, if there is room."""
        with suppress(OSError):
            if self._file:
                value = {"key": self._key, "acceleration": choice.to_json()}
                self._file.write_text(json.dumps(value, indent=2) + "\n")


@contextmanager
def locked_cache(setting: str, notes: Path | None = None) -> Iterator[AccelerationCache]:
    """The cache of a setting, locked: of several processes that start together only one measures."""
    key = _key()
    try:
        folder = notes or private_folder("deskarena-accelerator")
        folder.mkdir(mode=0o700, exist_ok=True)
        file = folder / f"{setting}-{key[:16]}.json"
        lock = file.with_suffix(".lock").open("w")
    except OSError:
        yield AccelerationCache(None, "")
        return
    with lock:
        with suppress(OSError):  # A network file system without locks: some measure twice.
            flock(lock, LOCK_EX)
        yield AccelerationCache(file, key)


def _key() -> str:
    """Changes when the result may: another start of the host, kernel, KVM module, device, user or QEMU."""
    files = (Path("/proc/sys/kernel/random/boot_id"), Path("/proc/version"))
    parts = [str(os.getuid()), str(os.getgroups()), *(_text(file) for file in files)]
    parts += [f"{module.name} {_text(module / 'srcversion')}" for module in sorted(MODULES.glob("kvm*"))]
    parts += [_state(file) for file in (DEVICE, Path("/usr/bin") / PROGRAM)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _text(file: Path) -> str:
    return file.read_text().strip() if file.exists() else ""


def _state(file: Path) -> str:
    """Owner, mode and change time of a file."""
    if not file.exists():
        return ""
    state = file.stat()
    return str((state.st_mode, state.st_uid, state.st_gid, state.st_mtime_ns))
