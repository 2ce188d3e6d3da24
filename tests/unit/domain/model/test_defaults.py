"""Defaults. A stored run or step leaves them out, so another default would change the meaning of old rows."""

from backend.domain.model.run import RunConfig
from backend.domain.model.task import EvaluatorSpec, Labels, Part, PartKind
from backend.domain.model.trajectory import Action, ActionType, StepTiming, Usage, Window

STILL = {"quiet": 0.2, "timeout": 2.0}


def test_a_run_that_names_only_its_agent() -> None:
    assert RunConfig(agent="noop").model_dump(mode="json", exclude_none=True) == {
        "agent": "noop",
        "params": {},
        "provider": "local",
        "tasks": [],
        "where": [],
        "repeats": 1,
        "seed": 0,
        "screen": {"width": 1920, "height": 1080},
        "budget": {"max_seconds": 1800.0, "max_invalid": 5},
        "settle": STILL,
        "wait": {"quiet": 0.5, "timeout": 5.0},
    }


def test_a_task_without_labels_is_a_feasible_one_of_linux() -> None:
    assert Labels().model_dump(exclude_none=True) == {
        "apps": (),
        "requires": (),
        "os": "linux",
        "feasible": True,
        "licences": {},
        "extra": {},
    }


def test_metrics_are_joined_by_and_each_part_counts_once() -> None:
    part = Part.model_validate({"name": "a", "kind": PartKind.PHASE, "calls": [{"func": "exact_match"}]})
    spec = EvaluatorSpec(calls=(), parts=(part,))
    assert (spec.conj, part.conj, part.weight) == ("and", "and", 1.0)
    assert (spec.strict_upstream, spec.stepwise, spec.patience) == (False, False, None)


def test_click_defaults_to_the_left_button_at_the_pointer() -> None:
    click = Action(type=ActionType.CLICK)
    assert (click.button, click.clicks, click.x, click.y, click.dx, click.dy) == ("left", 1, None, None, 0, 0)


def test_window_of_unknown_position_is_empty_and_inactive() -> None:
    window = Window(title="Files")
    assert (window.x, window.y, window.width, window.height, window.active) == (0, 0, 0, 0, False)


class TestUsage:
    SOME = Usage(input_tokens=5, output_tokens=4, usd=0.5, cached_tokens=3, calls=2, wait_seconds=1.5)

    def test_no_call_adds_nothing(self) -> None:
        assert Usage() + self.SOME == self.SOME
        assert self.SOME + Usage() == self.SOME

    def test_calls_add_up(self) -> None:
        assert (
            Usage(input_tokens=10, output_tokens=8, usd=1.0, cached_tokens=6, calls=4, wait_seconds=3.0)
            == self.SOME + self.SOME
        )

    def test_a_sum_with_an_unknown_price_is_unknown(self) -> None:
        assert not (self.SOME + Usage(priced=False)).priced
        assert not (Usage(priced=False) + self.SOME).priced


class TestStepTiming:
    def test_unmeasured_phase_is_zero(self) -> None:
        assert set(StepTiming().model_dump().values()) == {0.0}
        assert StepTiming(total=3.0).overhead == 3.0

    def test_overhead_is_the_remaining_time(self) -> None:
        timing = StepTiming(agent=1, wait=2, action=4, settle=8, person=16, check=32, total=100)
        assert timing.overhead == 37

    def test_phases_that_overlap_leave_no_overhead(self) -> None:
        assert StepTiming(agent=2, total=1).overhead == 0.0
