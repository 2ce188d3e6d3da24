from collections.abc import Callable
from typing import Any

import pytest

from backend.domain.errors import AgentFailed, Cancelled, ClusterLost, GuestLost, LeaseLost, ModelApiFailed, Unavailable
from backend.domain.loop.agent_loop import AgentTimeout, LoopDependencies, LoopProgress, Rules, run_episode
from backend.domain.model.episode import EndedBy
from backend.domain.model.run import Budget, RunConfig, ScreenSize
from backend.domain.model.task import EvaluatorSpec, Task, TaskKey
from backend.domain.model.trajectory import Action, ActionType, Decision, Observation, StepRecord, Usage
from backend.domain.observations.a11y_tree import A11yTree
from backend.domain.observations.screenshot import Screenshot
from backend.domain.ports.agent import AgentContext, ObservationSpace
from backend.domain.ports.storage import CheckpointWatch
from tests.error_codes import raises_code
from tests.fakes.agent import Answer, ScriptedAgent
from tests.fakes.desktop import FakeDesktop
from tests.fakes.recorder import MemoryRecorder

SCREEN = ScreenSize(width=640, height=480)
WAIT = Decision(actions=(Action(type=ActionType.WAIT),))
TYPE = Decision(actions=(Action(type=ActionType.TYPING, text="a"),))
DONE = Decision(actions=(Action(type=ActionType.DONE),))
BAD = Decision(actions=(Action(type=ActionType.PRESS, keys=("hyperdrive",)),))


class LoopRun:
    """One call of run_episode with fakes all around it."""

    def __init__(self, *answers: Answer, on_reset: Exception | None = None, max_steps: int = 10, **budget: Any) -> None:
        self.agent = ScriptedAgent(answers=answers, on_reset=on_reset)
        self.desktop = FakeDesktop(SCREEN)
        self.clock = self.desktop.clock
        self.recorder = MemoryRecorder()
        self.progress = LoopProgress()
        self.space: ObservationSpace = Screenshot()
        self.watch: CheckpointWatch | None = None
        self.thinking: Callable[[Callable[[], Any], float], Any] = lambda call, _: call()
        config = RunConfig(agent="scripted", budget=Budget(max_steps=max_steps, **budget))
        self.rules = Rules.for_task(config, TASK)

    def run(self) -> EndedBy:
        parts = LoopDependencies(
            self.agent, self.desktop, self.space, self.recorder, self.clock, self.thinking, watch=self.watch
        )
        context = AgentContext(instruction="do it", screen=SCREEN, max_steps=self.rules.max_steps, seed=1)
        return run_episode(parts, context, self.rules, self.progress)

    @property
    def steps(self) -> list[StepRecord]:
        """Kept steps without the final observation."""
        return [step for step in self.recorder.steps if not self.is_final(step)]

    @property
    def last(self) -> StepRecord:
        return self.recorder.steps[-1]

    @staticmethod
    def is_final(step: StepRecord) -> bool:
        return any(result.get("final") for result in step.results)


TASK = Task(
    key=TaskKey(domain="d", name="t"), dialect="starter", instruction="do it", evaluator=EvaluatorSpec(calls=())
)


class TestRules:
    def test_the_runs_budget_comes_first(self) -> None:
        config = RunConfig(agent="a", budget=Budget(max_steps=3))
        assert Rules.for_task(config, TASK.model_copy(update={"max_steps": 7})).max_steps == 3

    def test_then_the_tasks_own(self) -> None:
        assert Rules.for_task(RunConfig(agent="a"), TASK.model_copy(update={"max_steps": 7})).max_steps == 7

    def test_default_budget_is_thirty_steps(self) -> None:
        assert Rules.for_task(RunConfig(agent="a"), TASK).max_steps == 30


class TestEnds:
    def test_done_ends_the_episode(self) -> None:
        episode = LoopRun(TYPE, DONE)
        assert episode.run() is EndedBy.DONE
        assert [step.index for step in episode.steps] == [0, 1]
        assert episode.progress.steps == 2

    def test_fail_ends_the_episode_as_infeasible(self) -> None:
        assert LoopRun(Decision(actions=(Action(type=ActionType.FAIL),))).run() is EndedBy.INFEASIBLE

    def test_step_budget_ends_the_episode(self) -> None:
        episode = LoopRun(*[TYPE] * 20, max_steps=3)
        assert episode.run() is EndedBy.STEPS
        assert len(episode.steps) == 3
        assert len(episode.agent.seen) == 3

    def test_the_last_allowed_step_may_be_done(self) -> None:
        assert LoopRun(TYPE, DONE, max_steps=2).run() is EndedBy.DONE

    def test_token_budget_ends_the_episode(self) -> None:
        costly = TYPE.model_copy(update={"usage": Usage(input_tokens=60, output_tokens=10)})
        episode = LoopRun(*[costly] * 9, max_tokens=100)
        assert episode.run() is EndedBy.TOKENS
        assert episode.progress.usage == Usage(input_tokens=120, output_tokens=20)

    def test_money_budget_ends_the_episode(self) -> None:
        costly = TYPE.model_copy(update={"usage": Usage(usd=0.4)})
        episode = LoopRun(*[costly] * 9, max_usd=1.0)
        assert episode.run() is EndedBy.MONEY
        assert len(episode.steps) == 3

    def test_empty_answers_waste_steps_and_are_not_invalid(self) -> None:
        episode = LoopRun(*[Decision()] * 9, max_steps=7)
        assert episode.run() is EndedBy.STEPS


class TestTime:
    def test_the_agents_thinking_counts(self) -> None:
        episode = LoopRun(max_seconds=10.0)

        def slow(_: Observation) -> Decision:
            episode.clock.advance(4.0)
            return TYPE

        episode.agent.answers = [slow] * 9
        assert episode.run() is EndedBy.TIME
        assert len(episode.steps) == 3

    def test_an_answer_that_came_too_late_is_kept_but_not_carried_out(self) -> None:
        episode = LoopRun(max_seconds=10.0)

        def slow(_: Observation) -> Decision:
            episode.clock.advance(11.0)
            return TYPE

        episode.agent.answers = [slow]
        assert episode.run() is EndedBy.TIME
        assert episode.desktop.performed == []
        assert episode.steps[0].decision == TYPE

    def test_our_own_part_does_not_count(self) -> None:
        episode = LoopRun(*[TYPE] * 3, DONE, max_seconds=10.0)
        episode.recorder.on_keep = lambda _: episode.clock.advance(60.0)
        assert episode.run() is EndedBy.DONE
        assert episode.progress.spent["record"] == pytest.approx(300.0)

    def test_an_agent_that_never_answers_runs_out_of_time(self) -> None:
        episode = LoopRun(TYPE, max_seconds=10.0)
        given: list[float] = []

        def never(call: Callable[[], Any], seconds: float) -> Any:
            given.append(seconds)
            if len(given) == 2:  # the first call is reset()
                raise AgentTimeout
            return call()

        episode.thinking = never
        assert episode.run() is EndedBy.TIME
        assert given[1] == 10.0
        assert len(episode.recorder.steps) == 1


class TestInvalid:
    def test_invalid_action_is_reported_in_the_next_observation(self) -> None:
        episode = LoopRun(BAD, DONE)
        assert episode.run() is EndedBy.DONE
        assert "unknown key 'hyperdrive'" in episode.agent.seen[1].note
        assert "unknown key" in episode.steps[1].observation.note

    def test_note_is_shown_once(self) -> None:
        episode = LoopRun(BAD, TYPE, DONE)
        episode.run()
        assert episode.agent.seen[2].note == ""

    def test_too_many_in_a_row_end_the_episode(self) -> None:
        episode = LoopRun(*[BAD] * 9, max_invalid=3)
        assert episode.run() is EndedBy.INVALID
        assert len(episode.steps) == 3

    def test_a_valid_action_between_them_starts_the_count_again(self) -> None:
        episode = LoopRun(BAD, BAD, TYPE, BAD, BAD, DONE, max_invalid=3)
        assert episode.run() is EndedBy.DONE

    def test_replies_that_were_not_understood_count_too(self) -> None:
        episode = LoopRun(Decision(invalid="no code block"), BAD, Decision(invalid="x"), max_invalid=3)
        assert episode.run() is EndedBy.INVALID
        assert "no code block" in episode.agent.seen[1].note


class TestAgentError:
    @pytest.mark.parametrize(
        "error", [AgentFailed("no idea"), ValueError("no idea"), TimeoutError("no idea"), KeyError("no idea")]
    )
    def test_any_exception_of_the_agent_ends_the_episode(self, error: Exception) -> None:
        episode = LoopRun(TYPE, error)
        assert episode.run() is EndedBy.AGENT_ERROR
        assert "no idea" in episode.progress.note
        assert len(episode.steps) == 1
        assert "no idea" in episode.last.results[0]["note"]

    def test_also_at_the_start(self) -> None:
        episode = LoopRun(on_reset=ValueError("bad start"))
        assert episode.run() is EndedBy.AGENT_ERROR
        assert episode.steps == []
        assert len(episode.recorder.steps) == 1

    def test_an_answer_of_another_kind_is_the_agents_error(self) -> None:
        episode = LoopRun(lambda _: "click there")  # type: ignore[arg-type,return-value]
        assert episode.run() is EndedBy.AGENT_ERROR
        assert "str" in episode.progress.note


class TestLost:
    def test_a_model_api_failure_passes(self) -> None:
        episode = LoopRun(TYPE, ModelApiFailed("429"))
        with pytest.raises(ModelApiFailed):
            episode.run()
        assert episode.agent.closed == 1

    @pytest.mark.parametrize("when", ["reset", "act"])
    def test_a_server_of_ours_that_is_away_is_not_a_failure_of_the_agent(self, when: str) -> None:
        error = Unavailable("the database is away")
        episode = LoopRun(TYPE, on_reset=error) if when == "reset" else LoopRun(TYPE, error)
        with raises_code(ClusterLost, "service_unavailable", mentions="the database is away"):
            episode.run()
        assert episode.agent.closed == 1

    def test_a_lost_lease_passes_and_nothing_is_kept(self) -> None:
        episode = LoopRun(TYPE, TYPE)
        episode.recorder.lease_lost = True
        with pytest.raises(LeaseLost):
            episode.run()
        assert episode.recorder.steps == []

    def test_cancel_passes_before_the_next_step(self) -> None:
        episode = LoopRun(TYPE)

        def cancel(_: Observation) -> Decision:
            episode.recorder.is_cancelled = True
            return TYPE

        episode.agent.answers.append(cancel)
        with pytest.raises(Cancelled):
            episode.run()
        assert len(episode.steps) == 2

    def test_a_desktop_that_dies_at_an_action_says_so(self) -> None:
        episode = LoopRun(TYPE, TYPE)
        episode.desktop.on_perform = lambda _: episode.desktop.die("memory limit")
        with raises_code(GuestLost, "desktop_gone"):
            episode.run()
        assert episode.progress.acted

    def test_a_desktop_that_dies_while_the_agent_thinks_after_an_action(self) -> None:
        episode = LoopRun(TYPE)

        def die(_: Observation) -> Decision:
            episode.desktop.die()
            return TYPE

        episode.agent.answers.append(die)
        with pytest.raises(GuestLost):
            episode.run()
        assert episode.progress.acted

    def test_a_desktop_that_was_never_touched_died_by_itself(self) -> None:
        episode = LoopRun(Decision())

        def die(_: Observation) -> Decision:
            episode.desktop.die()
            return Decision()

        episode.agent.answers.append(die)
        with pytest.raises(GuestLost):
            episode.run()
        assert not episode.progress.acted


class TestRecord:
    def test_the_final_screen_is_recorded(self) -> None:
        episode = LoopRun(TYPE, Decision(actions=(*TYPE.actions, *DONE.actions)))
        episode.run()
        assert episode.is_final(episode.last)
        assert episode.last.index == 2
        assert episode.last.decision == Decision()
        assert episode.last.observation.frame is not None
        assert episode.last.results[0]["ended_by"] == "done"

    def test_a_step_is_kept_before_the_next_observation(self) -> None:
        episode = LoopRun()
        kept: list[int] = []

        def look(_: Observation) -> Decision:
            kept.append(len(episode.recorder.steps))
            return TYPE

        episode.agent.answers = [look, look, look]
        episode.run()
        assert kept == [0, 1, 2]

    def test_seconds_are_parted(self) -> None:
        episode = LoopRun(TYPE, DONE)
        episode.desktop.still_moving = 0.3
        episode.run()
        assert [step.timing.settle for step in episode.steps] == [0.0, pytest.approx(0.5)]
        assert episode.steps[1].timing.overhead == pytest.approx(0.0)
        assert episode.progress.spent["settle"] == pytest.approx(0.5)

    def test_keeping_a_step_counts_to_the_next(self) -> None:
        episode = LoopRun(TYPE, DONE)
        episode.recorder.on_keep = lambda _: episode.clock.advance(0.25)
        episode.run()
        assert [step.timing.record for step in episode.recorder.steps] == [
            0.0,
            pytest.approx(0.25),
            pytest.approx(0.25),
        ]
        assert episode.steps[1].timing.overhead == pytest.approx(0.25)

    def test_a_step_that_cannot_be_kept_ends_the_attempt(self) -> None:
        episode = LoopRun(TYPE, TYPE)

        def full(_: StepRecord) -> None:
            raise ClusterLost("disk full")

        episode.recorder.on_keep = full
        with pytest.raises(ClusterLost):
            episode.run()
        assert len(episode.agent.seen) == 1

    def test_the_last_actions_settle_before_what_they_left_is_kept(self) -> None:
        episode = LoopRun(Decision(actions=(*TYPE.actions, *DONE.actions)))
        episode.desktop.still_moving = 0.3
        episode.run()
        assert episode.last.timing.settle == pytest.approx(0.5)

    def test_a_picture_is_kept_that_the_agent_must_not_see(self) -> None:
        episode = LoopRun(DONE)
        episode.space = A11yTree()
        episode.run()
        assert episode.agent.seen[0].frame is None
        assert episode.agent.seen[0].a11y_tree is not None
        assert episode.steps[0].observation.frame is not None

    def test_the_agent_is_closed_once(self) -> None:
        episode = LoopRun(DONE)
        episode.run()
        assert episode.agent.closed == 1


class CountingWatch:
    """Says after which steps it was asked; gives up after `most`."""

    def __init__(self, episode: LoopRun, most: int = 1000) -> None:
        self.episode = episode
        self.most = most
        self.asked: list[int] = []
        self.begun = 0

    def begin(self) -> None:
        assert not self.episode.desktop.performed
        self.begun += 1

    def after(self, step: int) -> bool:
        assert len(self.episode.recorder.steps) == step + 1
        self.episode.clock.sleep(0.5)
        self.asked.append(step)
        return len(self.asked) < self.most


class TestWatch:
    def test_it_looks_after_every_step_the_last_included(self) -> None:
        episode = LoopRun(TYPE, WAIT, DONE)
        watch = episode.watch = CountingWatch(episode)
        assert episode.run() is EndedBy.DONE
        assert (watch.begun, watch.asked) == (1, [0, 1, 2])

    def test_too_long_without_progress_ends_the_episode(self) -> None:
        episode = LoopRun(*[TYPE] * 9)
        episode.watch = CountingWatch(episode, most=3)
        assert episode.run() is EndedBy.STALLED
        assert len(episode.steps) == 3
        assert "newly reached" in episode.progress.note

    def test_an_agent_that_is_done_is_done_all_the_same(self) -> None:
        episode = LoopRun(TYPE, DONE)
        episode.watch = CountingWatch(episode, most=2)
        assert episode.run() is EndedBy.DONE

    def test_looking_is_not_the_agents_time(self) -> None:
        episode = LoopRun(TYPE, TYPE, DONE)
        episode.watch = CountingWatch(episode)
        episode.run()
        assert episode.progress.spent["check"] == pytest.approx(1.5)
        assert episode.progress.agent_seconds < 1.5
        assert [step.timing.check for step in episode.recorder.steps] == pytest.approx([0.0, 0.5, 0.5, 0.5])
