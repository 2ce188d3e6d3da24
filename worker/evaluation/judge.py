"""Starts children and asks them for verdicts."""

import contextlib
import json
import logging
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import IO, Any

from pydantic import ValidationError

from backend.domain.episode import RETRIES
from backend.domain.errors import EvaluatorFailed, FailureClass
from backend.domain.evaluators.evaluate import CallEvidence
from backend.domain.score import Evaluation
from backend.domain.task import Task
from worker.evaluation.code import compile_ahead
from worker.evaluation.limits import OWN_UID, Limits
from worker.evaluation.sandbox import Place, Sandbox, candidates, command, environment, here
from worker.evaluation.wire import pack

FOLDERS = "deskarena-evidence-"
MAX_ANSWER = 4 * 2**20
PROBE_SECONDS = 30.0
logger = logging.getLogger(__name__)


class Child:
    """One child process with its folder. Started early, it imports its code while evidence is still gathered."""

    def __init__(self, sandbox: Sandbox, place: Place, limits: Limits) -> None:
        self._limits = limits
        self._folder = tempfile.TemporaryDirectory(prefix=f"{FOLDERS}{os.getpid()}-")
        self.blobs = Path(self._folder.name) / "blobs"
        self.blobs.mkdir(mode=0o755)
        self.blobs.chmod(0o755)  # Its parent is ours alone; the child may be another user.
        if sandbox.own_user and not sandbox.has_view:
            os.chown(self._folder.name, OWN_UID, OWN_UID)
        self._ended = False
        self._answer: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`.
        self._words: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`.
        line = command(sandbox, place, self.blobs, limits, root=os.geteuid() == 0)
        try:
            self._process = subprocess.Popen(
                line,
                stdin=subprocess.PIPE,
                stdout=self._answer,
                stderr=self._words,
                env=environment(place),
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            self._tidy()
            raise EvaluatorFailed(f"the evaluator could not be started: {error}") from error

    def ask(self, request: bytes, seconds: float | None = None) -> dict[str, Any]:
        """Sends the request and waits for the answer. Raises EvaluatorFailed if there is none."""
        try:
            self._process.communicate(request, timeout=seconds or self._limits.wall)
        except subprocess.TimeoutExpired as error:
            raise EvaluatorFailed(f"the evaluator took longer than {self._limits.wall:g} s") from error
        finally:
            self._end()
        if self._process.returncode != 0:
            raise EvaluatorFailed(f"the evaluator ended with {self._how()}: {self._last_words()}")
        answer = self._read(self._answer, MAX_ANSWER + 1)
        if len(answer) > MAX_ANSWER:
            raise EvaluatorFailed("the evaluator's answer is too long")
        return self._parsed(answer)

    def close(self) -> None:
        """Ends it, whatever it does, and removes its files. Safe to call twice."""
        self._end()
        self._tidy()

    def _parsed(self, answer: bytes) -> dict[str, Any]:
        try:
            parsed = json.loads(answer)
        except ValueError as error:
            raise EvaluatorFailed(f"the evaluator gave no verdict: {self._last_words()}") from error
        if not isinstance(parsed, dict):
            raise EvaluatorFailed("the evaluator gave no verdict")
        return parsed

    def _end(self) -> None:
        # The whole group, also when its leader has ended: a bubblewrap that fails on its way leaves a child that waits.
        if not self._ended:
            self._ended = True
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()

    def _tidy(self) -> None:
        self._answer.close()
        self._words.close()
        self._folder.cleanup()

    def _how(self) -> str:
        code = self._process.returncode
        return signal.Signals(-code).name if code < 0 else f"code {code}"

    def _last_words(self) -> str:
        text = self._read(self._words, 2**20).decode(errors="replace").strip()
        return text[-600:] or "it said nothing"

    @staticmethod
    def _read(file: IO[bytes], most: int) -> bytes:
        file.seek(0)
        return file.read(most)


def remove_left_folders() -> None:
    """Removes the evidence of workers that were killed: a folder's name says whose it is, and that process is gone."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDERS}*"):
        owner = folder.name.removeprefix(FOLDERS).split("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists() and folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(folder, ignore_errors=True)


class Judge:
    """Finds out once how children can be fenced in here, then makes them. Safe for several threads."""

    def __init__(
        self, limits: Limits | None = None, place: Place | None = None, sandbox: Sandbox | None = None
    ) -> None:
        self.limits = limits or Limits()
        self.place = place or here()
        self._sandbox = sandbox
        self._lock = Lock()

    @property
    def sandbox(self) -> Sandbox:
        """The best fence that works on this machine; tried out at first use.

        Raises:
            EvaluatorFailed: not even a plain child works.
        """
        with self._lock:
            if self._sandbox is None:
                remove_left_folders()
                self._sandbox = self._find()
                compile_ahead(self.place)
                logger.info("evaluators run under: %s", self._sandbox)
            return self._sandbox

    def start(self) -> Child:
        """A child that makes itself ready. The caller closes it."""
        return Child(self.sandbox, self.place, self.limits)

    def verdict(self, task: Task, evidence: Sequence[CallEvidence], first: Child | None = None) -> Evaluation:
        """The verdict on the evidence; asked again, in a new child, as often as the policy for `evaluator` says.

        Args:
            task: what was to be done.
            evidence: from `collect`, or from storage.
            first: a child that was started ahead; it is closed here.

        Raises:
            EvaluatorFailed: no child came to a verdict. Never a score instead.
        """
        tries = 1 + RETRIES[FailureClass.EVALUATOR]
        for number in range(1, tries + 1):
            try:
                return self._once(task, evidence, first if number == 1 else None)
            except EvaluatorFailed as error:
                logger.warning("evaluation of %s, try %d of %d: %s", task.key, number, tries, error.message)
                failed = error
        raise EvaluatorFailed(f"{failed.message} ({tries} tries)")

    def _once(self, task: Task, evidence: Sequence[CallEvidence], child: Child | None) -> Evaluation:
        child = child or self.start()
        try:
            answer = child.ask(pack(task, evidence, child.blobs))
        finally:
            child.close()
        if "failed" in answer:
            raise EvaluatorFailed(str(answer["failed"]))
        try:
            return Evaluation.model_validate(answer)
        except ValidationError as error:
            raise EvaluatorFailed(f"the evaluator's verdict makes no sense: {error}") from error

    def _find(self) -> Sandbox:
        reasons = []
        for sandbox in candidates():
            try:
                child = Child(sandbox, self.place, self.limits)
                try:
                    child.ask(b"probe", PROBE_SECONDS)
                finally:
                    child.close()
            except EvaluatorFailed as error:
                reasons.append(f"{sandbox}: {error.message}")
                continue
            for reason in reasons:
                logger.warning("a better fence for evaluators does not work here: %s", reason)
            return sandbox
        raise EvaluatorFailed("no evaluator can be started: " + "; ".join(reasons))
