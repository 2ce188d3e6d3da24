"""Real processes in the place of containers."""

import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from tests.fakes.kubernetes.kinds import Json


class ContainerProcess(Protocol):
    """A container's program."""

    def poll(self) -> int | None:
        """Its exit code, once it has ended."""

    def ready(self) -> bool:
        """The readiness probe's result."""

    def output(self) -> str:
        """Its output so far."""

    def stop(self, seconds: float) -> int:
        """Asks it to end, ends it after that time (0: at once); its exit code. May be called again."""


# Starts a container's process, given the pod and its own loopback address.
Start = Callable[[Json, str], ContainerProcess]


class ContainerChild:
    """A program on this machine as a container. Its output is kept in a file without a name."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str] | None = None, ready: Callable[[], bool] = lambda: True
    ) -> None:
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self._ready, self._said, self._lock = ready, "", threading.Lock()
        self.process = subprocess.Popen(
            list(command), env=env, stdin=subprocess.DEVNULL, stdout=self._output, stderr=subprocess.STDOUT
        )  # fmt: skip

    def poll(self) -> int | None:
        """See the protocol; ended by a signal counts as 128 and its number, as containers do."""
        code = self.process.poll()
        return 128 - code if code is not None and code < 0 else code

    def ready(self) -> bool:
        return self.poll() is None and self._ready()

    def output(self) -> str:
        with self._lock:
            if not self._output.closed:
                size = os.fstat(self._output.fileno()).st_size
                self._said = os.pread(self._output.fileno(), size, 0).decode(errors="replace")
            return self._said

    def stop(self, seconds: float) -> int:
        if self.process.poll() is None and seconds > 0:
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(seconds)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.output()
        with self._lock:
            self._output.close()
        return self.poll() or 0
