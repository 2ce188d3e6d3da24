"""A judge that finds verdicts in this process, without fence or limits."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.evaluate import CallEvidence, evaluate
from backend.domain.score import Evaluation
from backend.domain.task import Task
from worker.evaluation.judge import Child, Judge
from worker.evaluation.sandbox import Sandbox


class InProcessJudge(Judge):
    """Raises `broken` instead of a verdict, if it is set."""

    def __init__(self) -> None:
        super().__init__(sandbox=Sandbox.LIMITS)
        self.broken: EvaluatorFailed | None = None
        self.asked = 0

    def start(self) -> Child:
        raise EvaluatorFailed("verdicts are found in this process")

    def verdict(self, task: Task, evidence: Sequence[CallEvidence], first: Child | None = None) -> Evaluation:
        self.asked += 1
        if self.broken is not None:
            raise self.broken
        with tempfile.TemporaryDirectory() as folder:
            return evaluate(task, evidence, Path(folder))
