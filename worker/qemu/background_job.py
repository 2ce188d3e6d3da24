"""What takes minutes to do with large files, in a process of its own.

`python -S -m worker.qemu.background_job PARENT WHAT FILE...`: its supervisor hears meanwhile who is at the door. A
thread would not do, as whoever starts a QEMU must have one thread only.

| what | says, as JSON |
|---|---|
| `hash` | the sha256 of each file, in order |
| `sync` | an empty list, once all that was written to the files lies on the disk |
"""

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from worker.local import kernel

HASH, SYNC = "hash", "sync"
_ROOT = Path(__file__).resolve().parents[2]
_PIECE = 65536
_END_SECONDS = 1.0
"""The kernel may keep one that waits for the disk for longer; it is not waited for."""


class BackgroundJob:
    """One that is under way; ended with the `with` block.

    Attributes:
        output: descriptor to wait for what it says.
        over: it says nothing more.
    """

    def __init__(self, what: str, files: Sequence[Path]) -> None:
        """Begins it. Raises OSError if it cannot be begun."""
        words = [sys.executable, "-S", "-m", "worker.qemu.background_job", str(os.getpid()), what]
        self._said, self.over = b"", False
        self.output, writer = os.pipe()
        try:
            self._process = subprocess.Popen(
                [*words, *(str(each.absolute()) for each in files)],
                stdin=subprocess.DEVNULL,
                stdout=writer,
                env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONPATH": str(_ROOT)},
                cwd="/",
            )
        except OSError:
            os.close(self.output)
            raise
        finally:
            os.close(writer)

    def hear(self) -> None:
        """Reads what it says; waits unless `output` has something."""
        piece = os.read(self.output, _PIECE)
        self._said += piece
        self.over = not piece

    def result(self) -> list[str]:
        """What it has come to, once it is over. Raises OSError: it could not do it."""
        code = self._process.wait()
        if code != 0:
            raise OSError(self._said.decode(errors="replace").strip() or f"what was done with files ended with {code}")
        results: list[str] = json.loads(self._said)
        return results

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.output)
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)


def run_job(what: str, files: Sequence[Path]) -> list[str]:
    """Does it. Raises OSError."""
    results = []
    for each in files:
        with each.open("rb") as file:
            if what == HASH:
                results.append(hashlib.file_digest(file, "sha256").hexdigest())
            else:
                os.fsync(file.fileno())
    return results


def main() -> None:
    """Reads the command line, does it, and says what came of it."""
    parent, what, *files = sys.argv[1:]
    kernel.die_with_parent(signal.SIGKILL)
    if os.getppid() != int(parent):
        return
    try:
        output, code = json.dumps(run_job(what, [Path(each) for each in files])), 0
    except OSError as error:
        output, code = str(error), 1
    sys.stdout.write(output + "\n")
    sys.exit(code)


if __name__ == "__main__":
    main()
