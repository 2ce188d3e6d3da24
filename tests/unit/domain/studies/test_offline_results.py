"""Means of scores: demonstrations as clusters, steps without an answer count nowhere."""

from collections.abc import Sequence
from typing import Any

import pytest

from backend.domain.model.demonstration import SetForm
from backend.domain.statistics.intervals import wilson
from backend.domain.studies.offline_results import (
    MetricResult,
    OfflineProtocol,
    ScoredStep,
    by_group,
    metrics,
    protocol_of,
)
from backend.domain.studies.offline_scores import StepScore

WRONG = StepScore(
    type_match=False,
    grounding=None,
    step_success=False,
    element=False,
    operation_f1=0.0,
    web_success=False,
    sequence=0.0,
    penalty=0.0,
    sequence_most=1.0,
)
RIGHT = WRONG._replace(
    type_match=True, step_success=True, element=True, operation_f1=1.0, web_success=True, sequence=1.0
)


def steps(**scores: Sequence[StepScore | None]) -> list[ScoredStep]:
    return [ScoredStep(name, score) for name, own in scores.items() for score in own]


def named(protocol: OfflineProtocol, some: list[ScoredStep]) -> dict[str, MetricResult]:
    return {result.name: result for result in metrics(protocol, some)}


class TestMetrics:
    def test_mind2web_is_a_mean_over_tasks(self) -> None:
        results = named(OfflineProtocol.MIND2WEB, steps(a=[RIGHT], b=[RIGHT, WRONG, WRONG, WRONG]))
        assert results["element_accuracy"].value == pytest.approx((1 + 0.25) / 2)
        assert results["element_accuracy"].n == 5
        assert results["task_success"].value == 0.5

    def test_android_control_is_a_mean_over_steps(self) -> None:
        results = named(OfflineProtocol.ANDROID_CONTROL, steps(a=[RIGHT], b=[RIGHT, WRONG, WRONG, WRONG]))
        assert results["step_success"].value == pytest.approx(0.4)
        assert results["grounding_accuracy"] == ("grounding_accuracy", None, None, 0)

    def test_one_step_a_task_gives_wilson_s_interval(self) -> None:
        results = named(OfflineProtocol.ANDROID_CONTROL, steps(a=[RIGHT], b=[RIGHT], c=[WRONG], d=[WRONG]))
        assert results["step_success"].interval == pytest.approx(wilson(2, 4))

    def test_steps_of_one_task_are_not_independent_trials(self) -> None:
        spread = named(
            OfflineProtocol.ANDROID_CONTROL, steps(**{str(n): [RIGHT if n % 2 else WRONG] for n in range(20)})
        )
        clustered = named(
            OfflineProtocol.ANDROID_CONTROL, steps(**{str(n): [RIGHT if n % 2 else WRONG] * 5 for n in range(4)})
        )
        widths = [one["step_success"].interval for one in (spread, clustered)]
        assert all(widths)
        narrow, wide = (interval.high - interval.low for interval in widths if interval)
        assert wide > narrow

    def test_omniact_weighs_long_scripts_more(self) -> None:
        long = RIGHT._replace(sequence=1.3, sequence_most=1.3)
        results = named(OfflineProtocol.OMNIACT, steps(a=[long], b=[WRONG]))
        assert results["sequence_score"].value == pytest.approx(1.3 / 2.3)
        assert "task_success" not in results

    def test_a_penalty_never_gives_less_than_nothing(self) -> None:
        results = named(OfflineProtocol.OMNIACT, steps(a=[RIGHT._replace(penalty=4.0)], b=[RIGHT]))
        assert results["action_score"].value == 0.5

    def test_a_step_without_an_answer_is_not_zero(self) -> None:
        results = named(OfflineProtocol.ANDROID_CONTROL, steps(a=[RIGHT, None], b=[RIGHT], c=[WRONG, None]))
        assert results["step_success"].value == pytest.approx(2 / 3)
        assert results["step_success"].n == 3
        # a is open, b succeeded, c has failed whatever its other step would have been.
        assert (results["task_success"].value, results["task_success"].n) == (0.5, 2)

    def test_no_answers_give_no_value(self) -> None:
        assert {result.value for result in metrics(OfflineProtocol.MIND2WEB, steps(a=[None]))} == {None}


def test_groups_are_apart() -> None:
    some = [ScoredStep("a", RIGHT, "click"), ScoredStep("a", WRONG, "type")]
    groups: Any = by_group(OfflineProtocol.ANDROID_CONTROL, some)
    assert [(name, own[0].value) for name, own in groups.items()] == [("click", 1.0), ("type", 0.0)]


def test_each_form_has_its_metrics() -> None:
    assert {form: protocol_of(form).value for form in SetForm} == {
        SetForm.DESKARENA: "android_control",
        SetForm.MIND2WEB: "mind2web",
        SetForm.ANDROID_CONTROL: "android_control",
        SetForm.OMNIACT: "omniact",
        SetForm.RUN: "android_control",
    }
