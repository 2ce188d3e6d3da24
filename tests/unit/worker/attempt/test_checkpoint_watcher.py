from collections.abc import Sequence
from typing import Any

from backend.domain import registry
from backend.domain.errors import EvaluatorFailed, MissingEvidence
from backend.domain.evaluators.evaluate import CallEvidence
from backend.domain.evaluators.facts import unpack
from backend.domain.model.score import MetricValue
from backend.domain.model.task import Part, Task
from backend.domain.omnibench.expression import compile_function
from tests.error_codes import raises_code
from tests.factories.checkpoints import part, task_of_parts
from tests.factories.starter_tasks import FakeContext
from tests.fakes.desktop import FakeDesktop
from worker.attempt.checkpoint_watcher import CheckpointWatcher

registry.load()
SOURCE = "def evaluate_agent_task_completion(): ..."


class Asking:
    """A judge whose function requests one more file at each evaluation, `wants` in all, and then passes."""

    def __init__(self, wants: int) -> None:
        self.wants = wants
        self.seen: list[int] = []

    def __call__(self, task: Task, part: Part, evidence: Sequence[CallEvidence]) -> MetricValue:
        (call,) = evidence
        known = len(unpack(call.result or ()))
        self.seen.append(known)
        if known < self.wants:
            raise MissingEvidence([{"type": "check_file_exists", "file_path": f"/{known}"}])
        return MetricValue(value=0.0)


def watch(asking: Asking) -> CheckpointWatcher:
    node = part("n", calls=compile_function(SOURCE, {}).calls)
    task = task_of_parts(node, calls=()).model_copy(update={"dialect": "omnibench"})
    context: Any = FakeContext(FakeDesktop(), task)
    made = CheckpointWatcher(context, asking)
    made.begin()
    return made


class TestAfter:
    def test_evidence_for_an_evaluation_function_is_gathered_until_it_decides(self) -> None:
        asking = Asking(3)
        made = watch(asking)
        assert made.after(0)
        assert asking.seen == [0, 1, 2, 3]
        assert len(unpack(made.evidence["n"][0].result or ())) == 3

    def test_evidence_requested_before_is_gathered_at_once_at_the_next_step(self) -> None:
        asking = Asking(3)
        made = watch(asking)
        made.after(0)
        asking.seen.clear()
        made.after(1)
        assert asking.seen == [3]
        assert made.evidence["n"][0].step == 1

    def test_function_that_keeps_requesting_evidence_fails(self) -> None:
        with raises_code(EvaluatorFailed, "too_many_checks", mentions="10"):
            watch(Asking(99)).after(0)
