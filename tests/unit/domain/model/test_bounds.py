"""Bounds of what comes from outside: the last value that is accepted, and the first that is not."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from backend.domain.model.episode import EndedBy
from backend.domain.model.run import Budget
from backend.domain.model.score import Verdict, score_by_rule
from backend.domain.model.task import EvaluatorSpec, TaskKey
from backend.domain.model.trajectory import Mark

MARK = {"id": 1, "kind": "text", "x": 10, "y": 20, "width": 7, "height": 5, "origin": "ocr"}


@pytest.mark.parametrize(
    ("model", "facts", "field", "last", "beyond"),
    [
        pytest.param(Budget, {}, "max_steps", 1, 0, id="fewest-steps"),
        pytest.param(Budget, {}, "max_steps", 1000, 1001, id="most-steps"),
        pytest.param(Budget, {}, "max_seconds", 86400, 86401, id="most-seconds"),
        pytest.param(Budget, {}, "max_invalid", 1, 0, id="fewest-invalid-actions"),
        pytest.param(Budget, {}, "max_invalid", 100, 101, id="most-invalid-actions"),
        pytest.param(Budget, {}, "max_tokens", 1, 0, id="fewest-tokens"),
        pytest.param(Verdict, {}, "score", 1.0, 1.001, id="highest-score"),
        pytest.param(Verdict, {}, "score", 0.0, -0.001, id="lowest-score"),
        pytest.param(TaskKey, {"domain": "files", "name": "a"}, "domain", "d" * 100, "d" * 101, id="domain"),
        pytest.param(TaskKey, {"domain": "files", "name": "a"}, "name", "n" * 200, "n" * 201, id="name"),
        pytest.param(TaskKey, {"domain": "files", "name": "a"}, "name", "n", "", id="no-name"),
        pytest.param(Mark, MARK, "width", 1, 0, id="width"),
        pytest.param(Mark, MARK, "height", 1, 0, id="height"),
    ],
)
def test_the_last_value_is_accepted_and_the_next_is_not(
    model: type[BaseModel], facts: dict[str, Any], field: str, last: object, beyond: object
) -> None:
    assert getattr(model.model_validate({**facts, field: last}), field) == last
    with pytest.raises(ValidationError) as caught:
        model.model_validate({**facts, field: beyond})
    assert [error["loc"] for error in caught.value.errors()] == [(field,)]


def test_the_centre_is_inside() -> None:
    assert Mark.model_validate(MARK).centre == (13, 22)


class TestScoreByRule:
    @pytest.mark.parametrize(("ended_by", "score"), [(EndedBy.INFEASIBLE, 1.0), (EndedBy.DONE, 0.0)])
    def test_an_infeasible_task_is_solved_by_saying_so(self, ended_by: EndedBy, score: float) -> None:
        evaluation = score_by_rule(EvaluatorSpec.model_validate({"calls": [{"func": "infeasible"}]}), ended_by)
        assert evaluation is not None
        assert evaluation.score == score
        assert ("did not" in evaluation.rule) is (score == 0.0)
