from pathlib import Path
from typing import Any, ClassVar

import pytest

from backend.domain.errors import Cancelled, EvaluatorFailed, FailureClass
from backend.domain.evaluators.evaluate import CallEvidence
from backend.domain.model.score import Blob
from backend.domain.model.task import Part, Task
from tests.error_codes import raises_code
from tests.factories.checkpoints import part, task_of_parts
from tests.unit.worker.evaluation.cases import LIMITS, place_with
from tests.unit.worker.evaluation.test_evaluator import found
from worker.evaluation.evaluator import Evaluator
from worker.evaluation.sandboxed_process import SandboxedProcess
from worker.evaluation.step_evaluator import StepEvaluator


def said(text: str) -> list[CallEvidence]:
    return [CallEvidence(result=(Blob(name="cat", data=text.encode()),), expected=())]


def odd_task(func: str) -> tuple[Task, Part]:
    node = part("a")
    odd = node.model_copy(update={"calls": (node.calls[0].model_copy(update={"func": func}),)})
    return task_of_parts(odd), odd


class RecordedChild(SandboxedProcess):
    """One that is remembered."""

    started: ClassVar[list["RecordedChild"]] = []

    def __init__(self, *words: Any) -> None:
        super().__init__(*words)
        self.started.append(self)


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[RecordedChild]:
    """All children that a test starts."""
    monkeypatch.setattr(RecordedChild, "started", [])
    monkeypatch.setattr("worker.evaluation.step_evaluator.SandboxedProcess", RecordedChild)
    return RecordedChild.started


@pytest.fixture
def looks(children: list[RecordedChild]) -> StepEvaluator:
    assert children == []
    return Evaluator(LIMITS, sandbox=found()).looks()


@pytest.mark.sampled(2)
class TestLook:
    def test_one_child_serves_all_evaluations(self, looks: StepEvaluator, children: list[RecordedChild]) -> None:
        task = task_of_parts(part("a"))
        one = task.evaluator.parts[0]
        try:
            assert [looks.look(task, one, said(text)).value for text in ("no", "done", "no")] == [0.0, 1.0, 0.0]
            assert len(children) == 1
        finally:
            looks.close()

    def test_each_evaluation_takes_and_releases_a_turn(self) -> None:
        def stop(_seconds: float) -> None:
            raise Cancelled("the run was cancelled")

        judge = Evaluator(LIMITS, sandbox=found(), memory=2**30)
        task = task_of_parts(part("a"))
        looks = judge.looks(stop)
        try:
            with judge.turns.turn(stop), pytest.raises(Cancelled):
                looks.look(task, task.evaluator.parts[0], said("done"))
            assert looks.look(task, task.evaluator.parts[0], said("done")).value == 1.0
            with judge.turns.turn(stop):
                pass
        finally:
            looks.close()

    def test_close_removes_process_and_files(self, looks: StepEvaluator, children: list[RecordedChild]) -> None:
        (child,) = children
        looks.close()
        looks.close()
        assert child.process.poll() is not None
        assert not child.blobs.exists()

    def test_steps_that_cannot_be_judged(self, looks: StepEvaluator) -> None:
        task, node = odd_task("no_such_metric")
        try:
            with raises_code(EvaluatorFailed, "unknown_plugin", mentions=("part a", "no_such_metric", "3 tries")):
                looks.look(task, node, said("x"))
            fine = task_of_parts(part("a"))
            assert looks.look(fine, fine.evaluator.parts[0], said("done")).value == 1.0
        finally:
            looks.close()


@pytest.mark.sampled(1)
class TestHostile:
    @pytest.mark.parametrize(
        ("body", "code"),
        [
            ("import os\nos._exit(3)", "evaluator_crashed"),
            ("import threading\nthreading.Event().wait()", "evaluation_timeout"),
            ("print('x' * 9, file=__import__('sys').__stdout__)\nraise SystemExit", "evaluator_crashed"),
        ],
    )
    def test_a_child_that_dies_or_hangs_is_replaced(
        self, body: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("worker.evaluation.step_evaluator.RETRIES", {FailureClass.EVALUATOR: 0})
        looks = Evaluator(LIMITS, place_with(tmp_path, "odd", body), found()).looks()
        task, node = odd_task("odd")
        fine = task_of_parts(part("a"))
        try:
            assert looks.look(fine, fine.evaluator.parts[0], said("done")).value == 1.0
            monkeypatch.setattr("worker.evaluation.step_evaluator.LOOK_SECONDS", 2.0)
            with raises_code(EvaluatorFailed, code):
                looks.look(task, node, said("x"))
            monkeypatch.setattr("worker.evaluation.step_evaluator.LOOK_SECONDS", 30.0)
            assert looks.look(fine, fine.evaluator.parts[0], said("done")).value == 1.0
        finally:
            looks.close()
