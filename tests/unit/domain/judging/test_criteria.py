from typing import Any

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.judging.criteria import criteria_of, is_judged
from backend.domain.model.task import Part, PartKind
from tests.error_codes import raises_code
from tests.factories.checkpoints import file_says, part, task_of_parts
from tests.factories.judging import CRITERIA, judged_call, judged_task


def checkpoint(name: str, **more: Any) -> Part:
    values: dict[str, Any] = {"kind": PartKind.CHECKPOINT, "text": "x", "calls": (judged_call(name),)} | more
    return Part(name=name, **values)


class TestCriteriaOf:
    def test_parts_then_the_final_state(self) -> None:
        assert criteria_of(judged_task()) == CRITERIA

    def test_a_final_state_without_words_is_the_instructions(self) -> None:
        result = criteria_of(judged_task(text=""))[-1]
        assert result.text == "What was asked for is done: Write hello into the note."

    def test_criteria_decided_by_checks_are_not_judged(self) -> None:
        task = judged_task(calls=(file_says("/note", "hello"),))
        assert [criterion.name for criterion in criteria_of(task)] == ["opened"]

    def test_a_task_without_a_judge_has_none(self) -> None:
        assert criteria_of(task_of_parts(part("a"))) == ()

    @pytest.mark.parametrize(
        ("wrong", "words"),
        [
            ({"calls": (judged_call("opened"),)}, "'final' asks for 'opened'"),
            ({"parts": (checkpoint("a", calls=(judged_call(),)),)}, "'a' asks for 'final'"),
            ({"parts": (checkpoint("a", text=" "),)}, "has no text"),
            ({"parts": (checkpoint("a", each_step=True),)}, "not after each step"),
            ({"parts": (checkpoint("final"),)}, "the name of the final state"),
        ],
    )
    def test_a_task_that_no_judge_could_judge(self, wrong: dict[str, Any], words: str) -> None:
        with raises_code(EvaluatorFailed, "invalid_criterion", mentions=words):
            criteria_of(judged_task(**wrong))


class TestIsJudged:
    @pytest.mark.parametrize(
        ("task", "judged"),
        [
            (judged_task(), True),
            (judged_task(calls=(file_says("/note", "hello"),)), True),
            (task_of_parts(part("a")), False),
        ],
    )
    def test_by_the_stored_form(self, task: Any, judged: bool) -> None:  # noqa: FBT001 - a column of the table above.
        assert is_judged(task.model_dump(mode="json")) is judged
