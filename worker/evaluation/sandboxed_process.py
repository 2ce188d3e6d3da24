"""A child process in the best sandbox of this machine, with a folder that it can read."""

import contextlib
import os
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import IO

from backend.domain.errors import EvaluatorFailed
from worker.evaluation.limits import OWN_UID, ChildLimits
from worker.evaluation.sandbox import Sandbox, SandboxPaths, command, environment

FOLDERS = "deskarena-evidence-"
MAX_ANSWER = 4 * 2**20
TAKEN_FIRST = ("sh", "-c", 'echo 1000 > /proc/self/oom_score_adj; exec "$@"', "sh")
"""The kernel's OOM killer takes this process first: it is the cheapest to repeat."""


class SandboxedProcess:
    """The process, its stderr, and its end.

    Attributes:
        blobs: folder that it can read.
        process: its stdin is a pipe.
    """

    def __init__(
        self, sandbox: Sandbox, paths: SandboxPaths, limits: ChildLimits, *, answers: IO[bytes] | None = None
    ) -> None:
        """Starts it.

        Args:
            sandbox: sandbox to use.
            paths: of its code.
            limits: applied by the child itself.
            answers: file for its stdout; None = a pipe, for several requests.

        Raises:
            EvaluatorFailed: It could not be started.
        """
        self._folder = tempfile.TemporaryDirectory(prefix=f"{FOLDERS}{os.getpid()}-")
        self.blobs = Path(self._folder.name) / "blobs"
        self.blobs.mkdir(mode=0o755)
        self.blobs.chmod(0o755)  # Its parent is ours alone; the child may be another user.
        if sandbox.own_user and not sandbox.has_view:
            os.chown(self._folder.name, OWN_UID, OWN_UID)
        self._ended = False
        self._words: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`.
        fenced = command(sandbox, paths, self.blobs, limits, root=os.geteuid() == 0, looks=answers is None)
        try:
            self.process = subprocess.Popen(
                [*TAKEN_FIRST, *fenced],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE if answers is None else answers,
                stderr=self._words,
                env=environment(paths),
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            self.tidy()
            raise EvaluatorFailed(
                f"the evaluator could not be started: {error}", code="evaluator_not_started"
            ) from error

    def close(self) -> None:
        """Kills it and removes its files. Safe to call twice."""
        self.end()
        self.tidy()

    def end(self) -> None:
        """Kills it and its children. Safe to call twice."""
        # The whole process group, even if its leader has ended: a bubblewrap that fails leaves a waiting child.
        if not self._ended:
            self._ended = True
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()

    def tidy(self) -> None:
        self._words.close()
        self._folder.cleanup()

    def how(self) -> str:
        """Description of its end. The sandbox reports a signal as an exit code above 128."""
        code = self.process.returncode
        number = -code if code < 0 else code - 128
        return signal.Signals(number).name if number in set(signal.Signals) else f"code {code}"

    def last_words(self) -> str:
        """End of its stderr."""
        self._words.seek(0)
        text = self._words.read(2**20).decode(errors="replace").strip()
        return text[-600:] or "no output"
