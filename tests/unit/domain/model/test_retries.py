"""The retry policy by itself: how often, and after what pause."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.errors import FailureClass
from backend.domain.model.episode import RETRIES, UNBEGUN_RETRIES, Loss, next_try, repeat_pause

KINDS = st.builds(Loss, st.sampled_from(FailureClass), after_start=st.booleans(), unexplained=st.booleans())
LOSSES = st.lists(KINDS, min_size=1, max_size=40)


def pauses(loss: Loss) -> list[float]:
    """Seconds after each of the same losses, until there is no other try."""
    each = (next_try([loss] * times) for times in itertools.count(1))
    return [pause for pause in itertools.takewhile(lambda pause: pause is not None, each) if pause is not None]


@pytest.mark.parametrize("failure", FailureClass)
def test_retries_per_failure_class(failure: FailureClass) -> None:
    wanted = 0 if failure is FailureClass.EVALUATOR else RETRIES[failure]
    assert len(pauses(Loss(failure))) == wanted


def test_unexplained_losses_after_an_action_are_retried_once() -> None:
    assert pauses(Loss(FailureClass.GUEST, unexplained=True)) == [0]
    explained = Loss(FailureClass.GUEST)
    assert next_try([explained, Loss(FailureClass.GUEST, unexplained=True)]) == 0


def test_model_api_pauses_double() -> None:
    assert pauses(Loss(FailureClass.MODEL_API)) == [5, 10, 20, 40, 80]


def test_first_machine_loss_is_retried_immediately() -> None:
    assert pauses(Loss(FailureClass.CLUSTER)) == [0, 1, 2, 4, 8]
    assert set(pauses(Loss(FailureClass.GUEST))) == {0.0}


def test_unavailable_machine_is_retried_with_backoff() -> None:
    result = pauses(Loss(FailureClass.CLUSTER, after_start=False))
    assert len(result) == UNBEGUN_RETRIES
    assert result == [0, 1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_the_numbers_of_retries_are_those_of_the_documentation() -> None:
    assert {failure: len(pauses(Loss(failure))) for failure in FailureClass} == {
        FailureClass.MODEL_API: 5,
        FailureClass.TASK_SETUP: 1,
        FailureClass.GUEST: 2,
        FailureClass.CLUSTER: 5,
        FailureClass.EVALUATOR: 0,
    }
    assert [repeat_pause(tries) for tries in range(4)] == [5.0, 30.0, 180.0, None]


@given(LOSSES)
def test_only_losses_of_the_last_kind_count(losses: list[Loss]) -> None:
    same = [each for each in losses if each.counted_as == losses[-1].counted_as]
    assert next_try(losses) == next_try(same)


@given(LOSSES)
def test_only_cluster_losses_depend_on_after_start(losses: list[Loss]) -> None:
    all_after_start = [
        replace(each, after_start=each.after_start or each.failure is not FailureClass.CLUSTER) for each in losses
    ]
    assert next_try(losses) == next_try(all_after_start)
