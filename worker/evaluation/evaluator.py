"""Starts children and requests verdicts from them."""

import json
import logging
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from typing import IO, Any

from backend.domain.errors import EvaluatorFailed, FailureClass
from backend.domain.evaluators.evaluate import CallEvidence
from backend.domain.model.episode import RETRIES, EndedBy
from backend.domain.model.score import Evaluation
from backend.domain.model.task import Task
from worker.evaluation.code_cache import compile_ahead
from worker.evaluation.concurrency import FairSemaphore, max_parallel
from worker.evaluation.limits import ChildLimits
from worker.evaluation.sandbox import TEMP_BYTES, Sandbox, SandboxPaths, candidates, here
from worker.evaluation.sandboxed_process import FOLDERS, MAX_ANSWER, SandboxedProcess
from worker.evaluation.serialization import pack, read_verdict
from worker.evaluation.step_evaluator import StepEvaluator
from worker.local.capacity import most_memory

PROBE_SECONDS = 30.0
logger = logging.getLogger(__name__)


class Child(SandboxedProcess):
    """One child process with its folder. Started early, it imports its code while evidence is still being gathered."""

    def __init__(self, sandbox: Sandbox, paths: SandboxPaths, limits: ChildLimits) -> None:
        """Starts the child. Raises EvaluatorFailed."""
        self._limits = limits
        self._answer: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `tidy`.
        super().__init__(sandbox, paths, limits, answers=self._answer)

    def ask(self, request: bytes, seconds: float | None = None) -> dict[str, Any]:
        """Sends the request and waits for the answer. Raises EvaluatorFailed."""
        try:
            self.process.communicate(request, timeout=seconds or self._limits.wall)
        except subprocess.TimeoutExpired as error:
            raise EvaluatorFailed(
                f"the evaluator took longer than {self._limits.wall:g} s", code="evaluation_timeout"
            ) from error
        finally:
            self.end()
        if self.process.returncode != 0 and self.how() == signal.Signals.SIGXCPU.name:
            raise EvaluatorFailed(
                f"the evaluator computed for {self._limits.cpu} s without a verdict: a rule, such as a regular "
                "expression, or a file keeps it busy forever",
                code="evaluation_endless",
                hint="Check the task's rules and the evidence; repeating it takes as long.",
            )
        if self.process.returncode != 0:
            raise EvaluatorFailed(
                f"the evaluator exited with {self.how()}: {self.last_words()}", code="evaluator_crashed"
            )
        self._answer.seek(0)
        answer = self._answer.read(MAX_ANSWER + 1)
        if len(answer) > MAX_ANSWER:
            raise EvaluatorFailed("the evaluator's answer is too long", code="evaluator_crashed")
        return self._parse(answer)

    def tidy(self) -> None:
        self._answer.close()
        super().tidy()

    def _parse(self, answer: bytes) -> dict[str, Any]:
        try:
            parsed = json.loads(answer)
        except ValueError as error:
            raise EvaluatorFailed(
                f"the evaluator returned no verdict: {self.last_words()}", code="evaluator_crashed"
            ) from error
        if not isinstance(parsed, dict):
            raise EvaluatorFailed("the evaluator returned no verdict", code="evaluator_crashed")
        return parsed


def remove_left_folders() -> None:
    """Removes the evidence of killed workers: a folder's name has the process id, and that process is gone."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDERS}*"):
        owner = folder.name.removeprefix(FOLDERS).split("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists() and folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(folder, ignore_errors=True)


class Evaluator:
    """Determines the best sandbox for children once, then creates them. Thread-safe.

    A worker has one: the number of children that work in parallel is limited by memory. Children started early wait.

    Attributes:
        limits: of each child.
        paths: of its code.
        turns: permits of working children.

    Args:
        limits: of each child.
        paths: of its code.
        sandbox: sandbox to use; None = test which works.
        memory: bytes that the worker may use in total; None = this machine's limit.
    """

    def __init__(
        self,
        limits: ChildLimits | None = None,
        paths: SandboxPaths | None = None,
        sandbox: Sandbox | None = None,
        memory: int | None = None,
    ) -> None:
        self.limits = limits or ChildLimits()
        self.paths = paths or here()
        self._memory = most_memory() if memory is None else memory
        self.turns = FairSemaphore(1)
        self.make_room(0)
        self._sandbox = sandbox
        self._lock = Lock()

    def make_room(self, desktops: int) -> None:
        """Leaves that many bytes to desktops that run beside the children. Running children are not affected."""
        self.turns.number = max_parallel(self._memory - desktops, self.limits.memory + TEMP_BYTES)

    @property
    def sandbox(self) -> Sandbox:
        """The best sandbox that works on this machine; tested on first use.

        Raises:
            EvaluatorFailed: Not even an unsandboxed child works.
        """
        with self._lock:
            if self._sandbox is None:
                remove_left_folders()
                self._sandbox = self._find()
                compile_ahead(self.paths)
                logger.info("evaluator sandbox: %s, %d in parallel", self._sandbox, self.turns.number)
            return self._sandbox

    def start(self) -> Child:
        """A child that prepares itself. The caller closes it."""
        return Child(self.sandbox, self.paths, self.limits)

    def looks(self, pause: Callable[[float], None] = time.sleep) -> StepEvaluator:
        """A child that evaluates parts after each step while the agent works. The caller closes it.

        Args:
            pause: waits for a turn; may raise if the caller must stop.
        """
        return StepEvaluator(self.sandbox, self.paths, self.limits, partial(self.turns.turn, pause))

    def verdict(
        self,
        task: Task,
        evidence: Sequence[CallEvidence],
        first: Child | None = None,
        *,
        ended_by: EndedBy = EndedBy.DONE,
        pause: Callable[[float], None] = time.sleep,
    ) -> Evaluation:
        """The verdict on the evidence; retried in a new child as often as the policy for `evaluator` allows.

        Each child first waits for its turn, which does not count as its time.

        Args:
            task: the task.
            evidence: from `collect`, or from storage.
            first: a child that was started early; it is closed here.
            ended_by: what stopped the agent.
            pause: waits for the given seconds, or raises if the caller must stop, which is passed on.

        Raises:
            EvaluatorFailed: No child returned a verdict. There is never a default score.
        """
        tries = 1 + RETRIES[FailureClass.EVALUATOR]
        try:
            for number in range(1, tries + 1):
                try:
                    with self.turns.turn(pause):
                        return self._once(task, evidence, first if number == 1 else None, ended_by)
                except EvaluatorFailed as error:
                    logger.warning("evaluation of %s failed, try %d of %d: %s", task.key, number, tries, error.message)
                    if error.is_final:
                        raise
                    failed = error
            raise EvaluatorFailed(f"{failed.message} ({tries} tries)", code=failed.code)
        finally:
            if first is not None:
                first.close()  # Also if it never got a turn.

    def _once(self, task: Task, evidence: Sequence[CallEvidence], child: Child | None, ended_by: EndedBy) -> Evaluation:
        child = child or self.start()
        try:
            answer = child.ask(pack(task, evidence, child.blobs, ended_by=ended_by.value))
        finally:
            child.close()
        return read_verdict(answer, Evaluation)

    def _find(self) -> Sandbox:
        reasons = []
        for sandbox in candidates():
            try:
                child = Child(sandbox, self.paths, self.limits)
                try:
                    child.ask(b"probe", PROBE_SECONDS)
                finally:
                    child.close()
            except EvaluatorFailed as error:
                reasons.append(f"{sandbox}: {error.message}")
                continue
            for reason in reasons:
                logger.warning("better evaluator sandboxes do not work here: %s", reason)
            return sandbox
        raise EvaluatorFailed("no evaluator can be started: " + "; ".join(reasons), code="evaluator_not_started")
