"""Trial run of a container with the settings of agent containers: an engine may respond and still not run any.

The image is built here from a program of a few bytes that exits at once: nothing is downloaded, and no image of the
user is run.
"""

import io
import platform
import struct
import tarfile
import tempfile
import time
from pathlib import Path
from uuid import uuid4

from backend.domain.agents.container import ContainerParams
from worker.agents.containers import ContainerSpec, Engine, owner_mark, run_line

AGAIN_SECONDS = 60.0
_MEMORY_MB = 64
_ADDRESS, _HEADERS = 0x400000, 120
# Machine (ELF's number) and machine code of exit(0).
_PROGRAMS = {
    "x86_64": (62, bytes.fromhex("31ff" "b83c000000" "0f05")),
    "aarch64": (183, bytes.fromhex("000080d2" "a80b80d2" "010000d4")),
}  # fmt: skip
_PROGRAM = "trial"


class ContainerTrial:
    """Whether an engine can run containers. A success is remembered; a failure is tested again after a minute."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._works: set[str] = set()
        self._failed: tuple[str, float] | None = None

    def why_not(self) -> str:
        """Why containers cannot run here; empty if they can. The first call takes a second or two."""
        problem = self.engine.why_not()
        program = self.engine.program
        if problem or program in self._works:
            return problem
        if self._failed is not None and time.monotonic() - self._failed[1] < AGAIN_SECONDS:
            return self._failed[0]
        problem = _run_one(self.engine)
        if problem:
            self._failed = problem, time.monotonic()
        else:
            self._works.add(program)
        return problem


def _run_one(engine: Engine) -> str:
    """Builds the image, runs it and removes both. Returns what went wrong, or empty."""
    program = probe_program(platform.machine())
    if program is None:
        return ""  # On such a machine there is no small test program: the engine's answer has to suffice.
    mark = uuid4()
    image = f"deskarena-trial:{mark.hex}"
    if problem := engine.make_image(image, image_archive(program)):
        return f"{engine.program} responds, but cannot load an image: {problem}"
    params = ContainerParams(image=image, command=(f"/{_PROGRAM}",), memory_mb=_MEMORY_MB, cpus=0.5)
    with tempfile.TemporaryDirectory(prefix="deskarena-trial-") as name:
        door = Path(name) / "agent.sock"
        door.touch()
        plan = ContainerSpec(mark, params, door, owner_mark())
        problem = engine.tell(run_line(engine.program, plan))
    engine.remove(plan.name)
    engine.tell([engine.program, "rmi", "--force", image])
    return (
        f"{engine.program} responds, but cannot run a container with the settings of agents: {problem}"
        if problem
        else ""
    )


def image_archive(program: bytes) -> bytes:
    """File system with the program and the mount points."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for folder in ("tmp", "run", "run/deskarena"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
        entry = tarfile.TarInfo(_PROGRAM)
        entry.size, entry.mode = len(program), 0o755
        archive.addfile(entry, io.BytesIO(program))
    return data.getvalue()


def probe_program(machine: str) -> bytes | None:
    """Complete program that exits with 0; None for an unsupported machine."""
    if machine not in _PROGRAMS:
        return None
    number, code = _PROGRAMS[machine]
    size, entry = _HEADERS + len(code), _ADDRESS + _HEADERS
    # See elf(5): a 64-bit little-endian executable with one segment that is readable and executable.
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    head += struct.pack("<HHIQQQIHHHHHH", 2, number, 1, entry, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    head += struct.pack("<IIQQQQQQ", 1, 5, 0, _ADDRESS, _ADDRESS, size, size, 0x1000)
    return head + code
