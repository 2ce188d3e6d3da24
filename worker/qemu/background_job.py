"""Runs minutes of work on large files in a separate process.

`python -S -m worker.qemu.background_job PARENT WHAT FILE...`: meanwhile its supervisor handles connections. A thread
would not do: a process that starts QEMU must have one thread only.

| what | says, as JSON |
|---|---|
| `hash` | the sha256 of each file, in order |
| `sync` | an empty list, once all data written to the files is on the disk |
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
"""The kernel may delay the end of one that waits for the disk; it is not waited for longer."""


class BackgroundJob:
    """A running job; ended with the `with` block.

    Attributes:
        output: descriptor that becomes readable when it has output.
        over: no more output follows.
    """

    def __init__(self, job: str, files: Sequence[Path]) -> None:
        """Starts it. Raises OSError."""
        words = [sys.executable, "-S", "-m", "worker.qemu.background_job", str(os.getpid()), job]
        self._text, self.over = b"", False
        self.output, writer = os.pipe()
        try:
            self._process = subprocess.Popen(
                [*words, *(str(file.absolute()) for file in files)],
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
        """Reads its output; blocks unless `output` is readable."""
        piece = os.read(self.output, _PIECE)
        self._text += piece
        self.over = not piece

    def result(self) -> list[str]:
        """Its result, once it is over. Raises OSError if it failed."""
        code = self._process.wait()
        if code != 0:
            raise OSError(self._text.decode(errors="replace").strip() or f"the job exited with {code}")
        results: list[str] = json.loads(self._text)
        return results

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.output)
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)


def run_job(job: str, files: Sequence[Path]) -> list[str]:
    """Runs the job. Raises OSError."""
    results = []
    for path in files:
        with path.open("rb") as file:
            if job == HASH:
                results.append(hashlib.file_digest(file, "sha256").hexdigest())
            else:
                os.fsync(file.fileno())
    return results


def main() -> None:
    """Parses the command line, runs the job and prints the result."""
    parent, job, *files = sys.argv[1:]
    kernel.die_with_parent(signal.SIGKILL)
    if os.getppid() != int(parent):
        return
    try:
        output, code = json.dumps(run_job(job, [Path(file) for file in files])), 0
    except OSError as error:
        output, code = str(error), 1
    sys.stdout.write(output + "\n")
    sys.exit(code)


if __name__ == "__main__":
    main()
