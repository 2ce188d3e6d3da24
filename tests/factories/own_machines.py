"""Resources of this process's virtual machines; those of other processes do not count."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from backend.domain.ports.desktop import OpenDesktop
from tests.processes import select_living
from worker.qemu.runtime_dir import base_folder


@dataclass(frozen=True)
class OwnMachineResources:
    """Remains of it if it were forgotten.

    Attributes:
        processes: QEMUs and supervisors below us.
        descriptors: ours and the supervisors'.
        folders: of machines, with their sockets.
        overlays: names of files that machines write to.
    """

    processes: int
    descriptors: int
    folders: tuple[Path, ...]
    overlays: tuple[Path, ...]

    def count(self) -> int:
        """Of everything together."""
        return self.processes + self.descriptors + len(self.folders) + len(self.overlays)


@contextmanager
def own_folder() -> Iterator[Path]:
    """Supervisors that are started meanwhile keep their folders where no other process does."""
    before, cached = os.environ.get("TMPDIR"), tempfile.tempdir
    # Not a test's own folder: a socket's path has at most 108 bytes.
    with tempfile.TemporaryDirectory(prefix="own-", dir="/tmp", ignore_cleanup_errors=True) as folder:  # noqa: S108
        Path(folder).chmod(0o711)
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        try:
            yield Path(folder)
        finally:
            tempfile.tempdir = cached
            if before is None:
                del os.environ["TMPDIR"]
            else:
                os.environ["TMPDIR"] = before


def machines() -> list[psutil.Process]:
    """QEMUs that run below us."""
    return select_living(_below(), lambda process: process.name().startswith("qemu-system"))


def _supervisors() -> list[psutil.Process]:
    return select_living(_below(), lambda process: "worker.qemu.supervisor" in process.cmdline())


def _below() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


def machine_of(opened: OpenDesktop) -> psutil.Process:
    """The QEMU whose guest API that is."""
    port = int(opened.stream_address()[0].rpartition(":")[2])
    return next(
        process for process in machines() if port in {line.laddr.port for line in process.net_connections("tcp")}
    )


def held(data: Path) -> OwnMachineResources:
    """Resources that are held now. Args: data: the data folder in which the machines write."""
    supervisors = _supervisors()
    return OwnMachineResources(
        processes=len(machines()) + len(supervisors),
        descriptors=sum(process.num_fds() for process in (psutil.Process(), *supervisors)),
        folders=tuple(sorted(base_folder().glob("*/*"))),
        overlays=tuple(sorted((data / "machines").glob("**/*"))),
    )


def own_memory() -> int:
    """Bytes that this process and the supervisors below it have for themselves."""
    return sum(int(process.memory_full_info().uss) for process in (psutil.Process(), *_supervisors()))
