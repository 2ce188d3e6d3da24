"""A judge that finds verdicts in this process, without fence or limits."""

import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.evaluate import CallEvidence, evaluate, evaluate_part
from backend.domain.model.episode import EndedBy
from backend.domain.model.score import Evaluation, MetricValue
from backend.domain.model.task import Part, Task
from worker.evaluation.evaluator import Child, Evaluator
from worker.evaluation.sandbox import Sandbox
from worker.evaluation.step_evaluator import StepEvaluator


class InProcessJudge(Evaluator):
    """Raises `broken` instead of a verdict, if it is set."""

    def __init__(self) -> None:
        super().__init__(sandbox=Sandbox.LIMITS)
        self.broken: EvaluatorFailed | None = None
        self.asked = 0

    def start(self) -> Child:
        raise EvaluatorFailed("verdicts are found in this process")

    def looks(self, pause: Callable[[float], None] = time.sleep) -> StepEvaluator:
        return _InProcessLooks(self, partial(self.turns.turn, pause))

    def verdict(
        self,
        task: Task,
        evidence: Sequence[CallEvidence],
        first: Child | None = None,
        *,
        ended_by: EndedBy = EndedBy.DONE,
        pause: Callable[[float], None] = time.sleep,
    ) -> Evaluation:
        self.asked += 1
        if self.broken is not None:
            raise self.broken
        with self.turns.turn(pause), tempfile.TemporaryDirectory() as folder:
            return evaluate(task, evidence, Path(folder), ended_by=ended_by)


class _InProcessLooks(StepEvaluator):
    def __init__(self, judge: InProcessJudge, turn: Callable[[], AbstractContextManager[None]]) -> None:
        self._judge = judge
        self._turn = turn
        self._child = None

    def look(self, task: Task, part: Part, evidence: Sequence[CallEvidence]) -> MetricValue:
        if self._judge.broken is not None:
            raise self._judge.broken
        with self._turn(), tempfile.TemporaryDirectory() as folder:
            return evaluate_part(task, part, evidence, Path(folder))
