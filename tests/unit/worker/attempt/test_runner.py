import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.errors import (
    AttemptFailure,
    Cancelled,
    ClusterLost,
    EvaluatorFailed,
    FailureClass,
    LeaseLost,
)
from backend.domain.machines.egress_rules import EgressRules
from backend.domain.machines.slots import SlotRef
from backend.domain.model.episode import EndedBy
from backend.domain.model.run import Budget, ImageView
from backend.domain.model.task import EvaluatorSpec, MetricCall, SetupStep, Task
from backend.domain.model.trajectory import Action, ActionType, Decision, Frame, StepRecord
from backend.services.scheduling.claims import Claim
from tests.factories.attempt import AttemptCase
from tests.factories.checkpoints import part, task_of_parts
from tests.factories.claims import infeasible_task, note_task
from tests.fakes.desktop import FakeDesktop
from worker.attempt.attempt_dependencies import AttemptLog

SOLUTION = ({"type": "hello"}, {"hotkey": ["ctrl", "s"]})


@pytest.fixture(autouse=True, scope="module")
def _plugins() -> None:
    registry.load()


def with_assets(task: Task, assets: dict[str, str]) -> AttemptCase:
    """An attempt whose task set has these assets."""
    attempt = AttemptCase(task)
    attempt.claim = dataclasses.replace(attempt.claim, assets=assets)
    return attempt


class TestScored:
    def test_solved_task_scores_one(self) -> None:
        attempt = AttemptCase(note_task(oracle=SOLUTION), "oracle")
        assert attempt.run()
        assert attempt.book.moves == ["running", "evaluating", "scored"]
        assert attempt.book.ended_by is EndedBy.DONE
        assert attempt.score == 1.0
        assert attempt.book.evidence[0].result is not None

    @pytest.mark.parametrize("image", [None, ImageView(scale=0.5)])
    def test_oracle_gets_the_tree_even_if_the_run_hides_it(self, image: ImageView | None) -> None:
        attempt = AttemptCase(note_task(oracle=SOLUTION), "oracle")
        config = attempt.claim.config.model_copy(update={"observation": "screenshot", "image": image})
        attempt.claim = dataclasses.replace(attempt.claim, config=config)
        attempt.run()
        assert attempt.score == 1.0

    def test_unsolved_task_scores_zero(self) -> None:
        attempt = AttemptCase(note_task())
        attempt.run()
        assert attempt.book.moves[-1] == "scored"
        assert attempt.score == 0.0

    def test_giving_up_a_feasible_task_scores_zero_without_evaluation(self) -> None:
        attempt = AttemptCase(note_task(), "always_fail")
        attempt.run()
        assert attempt.score == 0.0
        assert attempt.judge.asked == 0

    def test_declaring_an_infeasible_task_infeasible_scores_one(self) -> None:
        attempt = AttemptCase(infeasible_task(), "always_fail")
        attempt.run()
        assert attempt.score == 1.0
        assert attempt.judge.asked == 0

    def test_agent_error_is_evaluated_like_any_other_end(self) -> None:
        attempt = AttemptCase(note_task(oracle=None), "oracle")
        attempt.run()
        assert attempt.book.ended_by is EndedBy.AGENT_ERROR
        assert attempt.score == 0.0

    def test_rejected_parameters_are_an_agent_error(self) -> None:
        attempt = AttemptCase(note_task(), "random", params={"stop_chance": 7})
        attempt.run()
        assert attempt.book.ended_by is EndedBy.AGENT_ERROR

    def test_progress_reports_end_before_the_desktop_is_recorded(self) -> None:
        attempt, order = AttemptCase(note_task()), list[str]()

        @contextmanager
        def opening(_claim: Claim, book: AttemptLog) -> Iterator[None]:
            assert book is attempt.book
            yield
            order.append("told" if not attempt.book.desktop else "late")

        attempt.opening = opening
        attempt.run()
        assert order == ["told"]
        assert attempt.book.desktop

    def test_seconds_are_recorded_by_phase(self) -> None:
        attempt = AttemptCase(note_task())
        attempt.run()
        assert {"reset", "setup", "agent", "action", "settle", "record", "evaluation"} <= set(attempt.book.seconds)

    def test_next_desktop_is_prepared_meanwhile(self) -> None:
        attempt = AttemptCase(note_task())
        attempt.run()
        assert [slot for slot, _ in attempt.provider.prepared] == [SlotRef(0)]

    def test_egress_rules_allow_setup_downloads(self) -> None:
        url = "https://files.example/a"
        step = SetupStep(type="download", parameters={"files": [{"url": url, "path": "/a"}]})
        attempt = with_assets(note_task(setup=(*note_task().setup, step)), {url: "1" * 64})
        attempt.run()
        assert attempt.provider.opened[0].way_out == EgressRules(files={url: "1" * 64})

    def test_desktop_and_stream_are_closed_once(self) -> None:
        attempt = AttemptCase(note_task())
        attempt.run()
        assert attempt.provider.opened[0].closed == 1
        assert attempt.pump.closed == 1


class TestLost:
    def test_unavailable_desktop_is_a_cluster_loss(self) -> None:
        attempt = AttemptCase(note_task())
        attempt.provider.broken = ClusterLost("no memory left", code="host_memory_full")
        assert not attempt.run()
        assert attempt.book.moves == ["lost"]
        assert attempt.book.failure == AttemptFailure(FailureClass.CLUSTER, "host_memory_full", "no memory left")

    def test_refused_setup_step_is_named(self) -> None:
        steps = (*note_task().setup, SetupStep(type="open", parameters={"path": "/nowhere"}))
        attempt = AttemptCase(note_task(setup=steps))
        attempt.run()
        assert attempt.book.loss == (FailureClass.TASK_SETUP, "step_failed")
        assert "set-up step 3" in attempt.book.message
        assert attempt.book.desktop["provider"] == "fake", "how its desktop was made is in the record all the same"

    def test_missing_asset_is_a_setup_loss(self) -> None:
        steps = (SetupStep(type="upload_file", parameters={"files": [{"local_path": "a.txt", "path": "/a"}]}),)
        attempt = AttemptCase(note_task(setup=steps))
        attempt.run()
        assert attempt.book.loss == (FailureClass.TASK_SETUP, "asset_missing")

    def test_unfetched_web_file_is_lost_before_a_desktop_opens(self) -> None:
        """Nothing is spent on it: no desktop, no agent."""
        url = "https://files.example/gold.xlsx"
        call = MetricCall(func="exact_match", expected={"type": "cloud_file", "path": url, "dest": "a"})
        attempt = AttemptCase(note_task(evaluator=EvaluatorSpec(calls=(call,))))
        assert attempt.run()
        assert attempt.book.loss == (FailureClass.TASK_SETUP, "asset_not_fetched")
        assert url in attempt.book.message
        assert "deskarena benchmark fetch" in attempt.book.message
        assert attempt.provider.opened == []

    def test_last_screen_of_a_lost_guest_is_stored(self) -> None:
        attempt = AttemptCase(note_task(oracle=SOLUTION), "oracle")
        blue = Frame(data=b"\xff\xd8blue", media_type="image/jpeg", width=720, height=400)

        def furnish(desktop: FakeDesktop) -> None:
            def crash(_: Action) -> None:
                attempt.provider.opened[0].last = blue
                desktop.die("the guest's system crashed")

            desktop.on_perform = crash

        attempt.provider.on_open = furnish
        attempt.run()
        assert attempt.book.moves == ["running", "lost"]
        last = attempt.book.steps[-1]
        assert last.observation.frame == blue
        assert last.results[0]["final"]

    def test_evicted_desktop_is_a_cluster_loss(self) -> None:
        attempt = AttemptCase(note_task(oracle=SOLUTION), "oracle")

        def furnish(desktop: FakeDesktop) -> None:
            def evict(_: Action) -> None:
                attempt.provider.opened[0].taken = "the pod was evicted: the node was low on memory"
                desktop.die("the supervisor died")

            desktop.on_perform = evict

        attempt.provider.on_open = furnish
        attempt.run()
        assert attempt.book.moves == ["running", "lost"]
        assert attempt.book.loss == (FailureClass.CLUSTER, "desktop_revoked")
        assert attempt.book.message == "the pod was evicted: the node was low on memory"
        assert not attempt.book.after_action

    def test_desktop_death_before_any_action_is_lost(self) -> None:
        attempt = AttemptCase(note_task())
        attempt.provider.on_open = lambda desktop: desktop.die("killed")
        attempt.run()
        assert attempt.book.moves == ["lost"]
        assert not attempt.book.after_action

    def test_unhealthy_desktop_is_discarded_and_the_slot_backs_off(self) -> None:
        """No agent acts on it, it is discarded, and the slot backs off before the next one."""
        attempt = AttemptCase(note_task(oracle=SOLUTION), "oracle")

        def furnish(desktop: FakeDesktop) -> None:
            desktop.ailing = {"clock": 0.0}

        attempt.provider.on_open = furnish
        assert not attempt.run()
        assert attempt.book.moves == ["lost"]
        assert attempt.book.loss == (FailureClass.GUEST, "desktop_unhealthy")
        assert "clock: " in attempt.book.message
        assert attempt.desktop.performed == []
        assert attempt.provider.opened[0].closed == 1
        assert attempt.provider.distrusted == [attempt.claim.slot]
        assert "health" in attempt.book.seconds

    def test_failed_evaluation_gives_no_score_but_stores_evidence(self) -> None:
        attempt = AttemptCase(note_task())
        attempt.judge.broken = EvaluatorFailed("it broke (3 tries)", code="evaluator_crashed")
        attempt.run()
        assert attempt.book.moves == ["running", "evaluating", "unjudged"]
        assert attempt.book.evaluation is None
        assert attempt.book.failure == AttemptFailure(FailureClass.EVALUATOR, "evaluator_crashed", "it broke (3 tries)")
        assert [found.result is not None for found in attempt.book.evidence] == [True]

    def test_failing_getter_does_not_lose_other_evidence(self) -> None:
        reference = {"type": "cloud_file", "path": "asset:gone.txt", "dest": "gone.txt"}
        (call,) = note_task().evaluator.calls
        call = call.model_copy(update={"expected": reference})
        attempt = AttemptCase(note_task(evaluator=EvaluatorSpec(calls=(call,))))
        attempt.run()
        assert attempt.book.moves == ["running", "evaluating", "unjudged"]
        assert attempt.book.loss == (FailureClass.EVALUATOR, "invalid_reference")
        (evidence,) = attempt.book.evidence
        assert evidence.result is not None
        assert [failure.side for failure in evidence.failures] == ["expected"]

    def test_full_artifact_store_is_a_cluster_loss(self) -> None:
        attempt = AttemptCase(note_task())

        def full(_: StepRecord) -> None:
            raise ClusterLost("no room for an artifact", code="service_unavailable")

        attempt.book.on_keep = full
        attempt.run()
        assert attempt.book.moves == ["running", "lost"]
        assert attempt.book.loss == (FailureClass.CLUSTER, "service_unavailable")

    def test_worker_bug_is_a_cluster_loss(self) -> None:
        attempt = AttemptCase(note_task())

        def broken(_: StepRecord) -> None:
            raise RuntimeError("a bug")

        attempt.book.on_keep = broken
        attempt.run()
        assert attempt.book.moves[-1] == "lost"
        assert attempt.book.loss == (FailureClass.CLUSTER, "worker_broke")
        assert "RuntimeError: a bug" in attempt.book.message


class TestStopped:
    def stopping(self, error: Exception, **more: Any) -> AttemptCase:
        """An attempt that is stopped at its first action."""
        attempt = AttemptCase(note_task(oracle=SOLUTION), "oracle", **more)

        def stop(_: Action) -> None:
            attempt.hold.stop(error)  # type: ignore[arg-type]

        def furnish(desktop: FakeDesktop) -> None:
            desktop.on_perform = stop

        attempt.provider.on_open = furnish
        attempt.run()
        return attempt

    def test_a_lost_lease_writes_nothing_more(self) -> None:
        attempt = self.stopping(LeaseLost("taken over"))
        assert attempt.book.moves == ["running"]
        assert attempt.provider.opened[0].closed >= 1

    def test_cancelled_run_cancels_the_attempt(self) -> None:
        assert self.stopping(Cancelled("cancelled")).book.moves == ["running", "cancelled"]

    def test_stopping_worker_releases_the_attempt(self) -> None:
        attempt = self.stopping(ClusterLost("the worker was stopped", hint="Start another."))
        assert attempt.book.moves == ["running", "lost"]
        assert attempt.book.message == "the worker was stopped. Start another."
        assert not attempt.book.after_action

    def test_attempt_stopped_before_its_start_opens_no_desktop(self) -> None:
        attempt = AttemptCase(note_task())
        attempt.hold.stop(ClusterLost("the worker was stopped"))
        assert attempt.run()
        assert attempt.provider.opened == []

    def test_cancellation_seen_by_the_recorder_stops_the_attempt(self) -> None:
        attempt = AttemptCase(note_task(), budget=Budget(max_steps=3))
        attempt.book.is_cancelled = True
        attempt.run()
        assert attempt.book.moves == ["running", "cancelled"]


class TestParts:
    """Parts of a task that are evaluated after each step; typing `a=done` writes the file of part a."""

    def attempt(self, *types: str) -> AttemptCase:
        attempt = AttemptCase(task_of_parts(part("a"), part("b", "a")), "replay")
        steps = tuple(Decision(actions=(Action(type=ActionType.TYPING, text=text),)) for text in types)
        attempt.claim = dataclasses.replace(attempt.claim, trajectory=steps)

        def write(action: Action) -> None:
            name, _, text = action.text.partition("=")
            if text:
                attempt.desktop.files[f"/{name}"] = text.encode()

        attempt.on_perform = write
        return attempt

    def test_records_the_step_of_each_checkpoint(self) -> None:
        attempt = self.attempt("x", "a=done", "x", "b=done")
        attempt.run()
        assert attempt.book.evaluation is not None
        assert [(one.name, one.step) for one in attempt.book.evaluation.parts] == [("a", 1), ("b", 3)]

    def test_parts_undone_later_still_count_as_reached(self) -> None:
        attempt = self.attempt("a=done", "a=gone")
        attempt.run()
        assert attempt.book.evaluation is not None
        assert attempt.book.evaluation.parts[0].step == 0

    def test_checkpoint_reached_before_its_turn_does_not_count(self) -> None:
        """A node that is done before its turn and undone when it comes does not count."""
        attempt = self.attempt("b=done", "b=gone", "a=done")
        attempt.run()
        assert attempt.book.evaluation is not None
        assert [one.reached for one in attempt.book.evaluation.parts] == [True, False]

    def test_failed_checkpoint_evaluation_gives_no_score(self) -> None:
        attempt = self.attempt("a=done")
        attempt.judge.broken = EvaluatorFailed("the child is broken")
        attempt.run()
        assert attempt.book.moves[-1] == "lost"
        assert attempt.book.evaluation is None
