"""The disk of the data folder is full for a while: artifacts, logs and the database have no room left."""

import errno
import os

from tools.chaos.faults.base import Fault, Scene, kind

BLOCK = 1024 * 1024


class FullDisk(Fault):
    """A file takes all the room that is left, and is removed."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def why_not(self, scene: Scene) -> str:
        return "" if scene.stack.own_disk else "a file system of its own can only be mounted by root"

    def inject(self, scene: Scene) -> str:
        size = 0
        with (scene.stack.data / "filler").open("wb", buffering=0) as file:
            for block in (BLOCK, 4096, 1):
                size += _fill(file.fileno(), bytes(block))
        return f"the data folder is full ({size // BLOCK} MiB written) for {self.seconds:.1f} s"

    def heal(self, scene: Scene) -> None:
        (scene.stack.data / "filler").unlink(missing_ok=True)


def _fill(descriptor: int, block: bytes) -> int:
    size = 0
    while True:
        try:
            size += os.write(descriptor, block)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            return size


kind("full disk", "the data folder has no room left", lambda r: FullDisk(r.uniform(3.0, 15.0)))
