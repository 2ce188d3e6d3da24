import re

import pytest

from backend.domain.errors import Invalid
from backend.domain.omnibench.build import build
from backend.domain.omnibench.crosscheck import CrossCheckVerdict, trials, verdicts
from backend.domain.omnibench.task_file import Pool, read_task
from tests.error_codes import raises_code
from tests.factories.omnibench import LIST, small_pool, subtask

POOL = small_pool()


def named(pool: Pool = POOL, **more: int) -> dict[str, tuple[str, object]]:
    return {
        trial.name: (trial.trial.subtask, trial.trial.values.get("words"))
        for trial in trials(pool, seed=1, **more)
        if trial.trial is not None
    }


class TestTrials:
    def test_its_own_and_three_others_the_nearest_first(self) -> None:
        result = {name: played for name, played in named().items() if name.startswith("write.")}
        assert result["write.own"] == ("write", "milk")
        assert result["write.foreign-1"] == ("write", "tea")
        assert result["write.foreign-2"][0] == "spell"
        assert result["write.foreign-3"][0] in {"pack", "draw"}

    def test_subtasks_with_equal_effects_are_not_strangers(self) -> None:
        pool = {**POOL, "again": subtask("again", available_parameters=({"txt_path": LIST},),
                                         output_resources=("txt_path",), oracle=())}  # fmt: skip
        assert "again" not in {played for name, (played, _) in named(pool).items() if name.startswith("write.")}

    def test_a_pool_without_solutions(self) -> None:
        with raises_code(Invalid, "pool_without_oracles"):
            named({"a": subtask("a")})

    def test_a_trial_is_a_task_with_the_others_solution(self) -> None:
        trial = next(one for one in trials(POOL, seed=1) if one.name == "draw.own")
        foreign = next(
            one for one in trials(POOL, seed=1) if one.trial and one.graph.nodes[0].name == "draw"
            and one.trial.subtask == "write"
        )  # fmt: skip
        again = read_task(foreign.as_json(), foreign.name, POOL)
        assert again == foreign
        assert foreign.trial is not None
        task, own = build(foreign, POOL, {}), build(trial, POOL, {})
        assert task.evaluator == own.evaluator
        assert task.oracle == ({"type": foreign.trial.values["words"]}, {"hotkey": ["ctrl", "s"]})
        assert [step.type for step in task.setup] == ["create_folder"]
        assert task.labels.requires == ("drawing", "mousepad")


class TestVerdicts:
    def test_passed_if_its_own_is_accepted_and_three_others_are_not(self) -> None:
        scores = {"a.own": 1.0, "a.foreign-1": 0.0, "a.foreign-2": 0.0, "a.foreign-3": 0.0}
        (result,) = verdicts(scores)
        assert (result.subtask, result.passed, result.feedback()) == ("a", True, "")

    @pytest.mark.parametrize(
        ("scores", "words"),
        [
            (
                {"a.own": 0.0, "a.foreign-1": 0.0, "a.foreign-2": 0.0, "a.foreign-3": 0.0},
                "does not accept",
            ),
            ({"a.own": 1.0, "a.foreign-1": 1.0, "a.foreign-2": 0.0, "a.foreign-3": 0.0}, "too weak.*foreign-1"),
            ({"a.own": 1.0, "a.foreign-1": 0.0, "a.foreign-2": 0.0, "a.foreign-3": None}, "without a score: foreign-3"),
            ({"a.own": None, "a.foreign-1": 0.0, "a.foreign-2": 0.0, "a.foreign-3": 0.0}, "without a score: own"),
            ({"a.own": 1.0, "a.foreign-1": 0.0}, "2 more trajectories"),
        ],
    )
    def test_subtasks_to_revise(self, scores: dict[str, float | None], words: str) -> None:
        (result,) = verdicts(scores)
        assert not result.passed
        assert re.search(words, result.feedback())

    def test_each_subtask_by_itself(self) -> None:
        result = verdicts({"b.own": 1.0, "a.x.own": 0.0})
        assert [(one.subtask, one.accepts_own) for one in result] == [("a.x", False), ("b", True)]

    def test_nothing_known_is_not_passed(self) -> None:
        assert not CrossCheckVerdict(subtask="a").passed
