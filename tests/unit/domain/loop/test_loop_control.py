"""A person takes over from an agent, and hands back."""

import pytest

from backend.domain.errors import Cancelled
from backend.domain.loop.agent_loop import LoopDependencies, LoopProgress, Rules, run_episode
from backend.domain.model.episode import EndedBy
from backend.domain.model.run import Budget, RunConfig, ScreenSize
from backend.domain.model.task import EvaluatorSpec, Task, TaskKey
from backend.domain.model.trajectory import Action, ActionType, Decision
from backend.domain.observations.screenshot import Screenshot
from backend.domain.ports.agent import AgentContext
from tests.fakes.agent import ScriptedAgent
from tests.fakes.desktop import FakeDesktop
from tests.fakes.recorder import MemoryRecorder
from tests.fakes.takeover import FakeControl

SCREEN = ScreenSize(width=640, height=480)
TASK = Task(
    key=TaskKey(domain="d", name="t"), dialect="starter", instruction="do it", evaluator=EvaluatorSpec(calls=())
)
TYPE = Decision(actions=(Action(type=ActionType.TYPING, text="a"),))
DONE = Decision(actions=(Action(type=ActionType.DONE),))


def by_hand(text: str) -> Decision:
    return Decision(actions=(Action(type=ActionType.TYPING, text=text),), by="person")


class Played:
    """An agent's episode with a person beside it."""

    def __init__(self, control: FakeControl, *answers: Decision, max_steps: int = 5, max_seconds: float = 60) -> None:
        self.control = control
        self.agent = ScriptedAgent(answers=answers)
        self.desktop = FakeDesktop(SCREEN)
        self.recorder = MemoryRecorder()
        self.progress = LoopProgress()
        budget = Budget(max_steps=max_steps, max_seconds=max_seconds)
        self.rules = Rules.for_task(RunConfig(agent="scripted", budget=budget), TASK)

    def run(self) -> EndedBy:
        space, clock = Screenshot(), self.desktop.clock
        parts = LoopDependencies(self.agent, self.desktop, space, self.recorder, clock, control=self.control)
        context = AgentContext(instruction="do it", screen=SCREEN, max_steps=self.rules.max_steps, seed=1)
        return run_episode(parts, context, self.rules, self.progress)

    @property
    def by(self) -> list[str]:
        return [step.decision.by for step in self.recorder.steps if not any(r.get("final") for r in step.results)]


class TestTakeOver:
    def test_two_actions_by_hand_then_the_agent_finishes(self) -> None:
        played = Played(FakeControl(by_hand("x"), by_hand("y"), after=1), TYPE, DONE)
        assert played.run() is EndedBy.DONE
        assert played.by == ["agent", "person", "person", "agent"]
        assert [action.text for action in played.desktop.performed] == ["a", "x", "y"]
        assert played.progress.by_person == 2

    def test_the_agent_sees_the_screen_as_the_person_left_it(self) -> None:
        played = Played(FakeControl(by_hand("x")), DONE)
        played.run()
        assert [seen.index for seen in played.agent.seen] == [1]

    def test_a_person_uses_up_none_of_the_agents_steps(self) -> None:
        played = Played(FakeControl(*[by_hand("x")] * 4), TYPE, DONE, max_steps=2)
        assert played.run() is EndedBy.DONE

    def test_person_does_not_use_the_agents_time(self) -> None:
        control = FakeControl(by_hand("x"), waits=3)
        played = Played(control, DONE, max_seconds=10)
        control.on_wait = lambda: played.desktop.clock.advance(100.0)
        assert played.run() is EndedBy.DONE
        assert played.progress.spent["person"] >= 300.0
        assert played.progress.agent_seconds < 10.0
        assert played.recorder.steps[0].timing.person >= 300.0

    def test_a_person_who_did_nothing_leaves_the_episode_the_agents(self) -> None:
        played = Played(FakeControl(waits=2), DONE)
        assert played.run() is EndedBy.DONE
        assert played.by == ["agent"]

    def test_cancelling_does_not_wait_for_the_person(self) -> None:
        control = FakeControl(waits=1000)
        played = Played(control, DONE)
        control.on_wait = lambda: setattr(played.recorder, "is_cancelled", True)
        with pytest.raises(Cancelled):
            played.run()
