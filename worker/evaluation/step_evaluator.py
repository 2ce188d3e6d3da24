"""Evaluates parts of a task while the agent works: one child for the whole attempt."""

import logging
import os
import selectors
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from backend.domain.errors import EvaluatorFailed, FailureClass, Invalid, MissingEvidence
from backend.domain.evaluators.evaluate import CallEvidence
from backend.domain.model.episode import RETRIES
from backend.domain.model.score import MetricValue
from backend.domain.model.task import Part, Task
from backend.domain.omnibench.expression import fact_of
from worker.base.json_lines import LineDecoder, LineError
from worker.evaluation.limits import ChildLimits
from worker.evaluation.sandbox import Sandbox, SandboxPaths
from worker.evaluation.sandboxed_process import MAX_ANSWER, SandboxedProcess
from worker.evaluation.serialization import pack, read_verdict

LOOK_SECONDS = 30.0
"""Time limit per evaluation; the agent waits for it."""
FOLDER = "look"
logger = logging.getLogger(__name__)


class StepEvaluator:
    """Evaluates parts in a child. A child that dies is replaced, as often as the policy allows per evaluation.

    Not thread-safe: an attempt uses it from one thread.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        paths: SandboxPaths,
        limits: ChildLimits,
        turn: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """Starts the child early, so that it imports its code while the desktop is set up.

        Args:
            sandbox: sandbox to use.
            paths: of its code.
            limits: applied by the child itself.
            turn: context manager that waits for a turn and holds it; may raise if the caller must stop.
        """
        self._child_arguments = (sandbox, paths, limits)
        self._turn = turn
        self._child: SandboxedProcess | None = SandboxedProcess(*self._child_arguments)

    def look(self, task: Task, part: Part, evidence: Sequence[CallEvidence]) -> MetricValue:
        """Current result of the part for this evidence.

        Raises:
            MissingEvidence: An evaluation function needs more evidence.
            EvaluatorFailed: No child returned a result.
        """
        tries = 1 + RETRIES[FailureClass.EVALUATOR]
        for number in range(1, tries + 1):
            try:
                with self._turn():
                    return self._once(task, part, evidence)
            except MissingEvidence:
                raise
            except EvaluatorFailed as error:
                logger.warning(
                    "evaluation of part %s of %s failed, try %d of %d: %s",
                    part.name,
                    task.key,
                    number,
                    tries,
                    error.message,
                )
                failed = error
        raise EvaluatorFailed(f"part {part.name}: {failed.message} ({tries} tries)", code=failed.code)

    def close(self) -> None:
        """Ends the child. Safe to call twice."""
        child, self._child = self._child, None
        if child is not None:
            child.close()

    def _once(self, task: Task, part: Part, evidence: Sequence[CallEvidence]) -> MetricValue:
        child = self._child = self._child or SandboxedProcess(*self._child_arguments)
        try:
            answer = self._ask(child, task, part, evidence)
        except LineError as error:
            self.close()
            raise EvaluatorFailed(f"the evaluator's answer is invalid: {error}", code="evaluator_crashed") from error
        except (OSError, EvaluatorFailed) as error:
            known = (
                error if isinstance(error, EvaluatorFailed) else EvaluatorFailed(str(error), code="evaluator_crashed")
            )
            child.end()
            message = f"{known.message}: {child.last_words()}"
            self.close()
            raise EvaluatorFailed(message, code=known.code) from error
        if "missing" in answer:
            raise MissingEvidence(_facts(answer["missing"]))
        return read_verdict(answer, MetricValue)

    @staticmethod
    def _ask(child: SandboxedProcess, task: Task, part: Part, evidence: Sequence[CallEvidence]) -> dict[str, Any]:
        folder = child.blobs / FOLDER
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o755)
        folder.chmod(0o755)
        request = pack(task, evidence, folder, part=part.name, place=FOLDER)
        if child.process.stdin is None:
            raise EvaluatorFailed("the evaluator does not accept requests", code="evaluator_crashed")
        child.process.stdin.write(request + b"\n")
        child.process.stdin.flush()
        return _answer(child)


def _facts(facts: Any) -> list[dict[str, Any]]:
    """Parses what a child requests; a foreign function may have influenced it. Raises EvaluatorFailed."""
    try:
        return [fact_of(str(fact["type"]), (), {k: v for k, v in fact.items() if k != "type"}) for fact in facts]
    except (Invalid, TypeError, KeyError, AttributeError) as error:
        raise EvaluatorFailed(
            f"the evaluation function requests unknown evidence: {error}", code="unknown_check"
        ) from error


def _answer(child: SandboxedProcess) -> dict[str, Any]:
    """The child's next line. Raises EvaluatorFailed if there is none in time, LineError if it is invalid."""
    stream = child.process.stdout
    if stream is None:
        raise EvaluatorFailed("the evaluator returned nothing", code="evaluator_crashed")
    deadline, decoder = time.monotonic() + LOOK_SECONDS, LineDecoder(MAX_ANSWER)
    answers: list[dict[str, Any]] = []
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while not answers:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                raise EvaluatorFailed(f"the evaluator took longer than {LOOK_SECONDS:g} s", code="evaluation_timeout")
            read = os.read(stream.fileno(), 65536)
            if not read:
                raise EvaluatorFailed("the evaluator ended", code="evaluator_crashed")
            answers = decoder.feed(read)
    return answers[0]
