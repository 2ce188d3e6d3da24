import pytest
from pydantic import ValidationError

from backend.domain.agents.always_fail import AlwaysFail
from backend.domain.agents.noop import Noop
from backend.domain.agents.random import Random
from backend.domain.agents.replay import ReplayAgent
from backend.domain.errors import AgentFailed
from backend.domain.loop.action_execution import complaint
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import Action, ActionType, Decision, Observation, Usage
from backend.domain.ports.agent import AgentContext
from tests.error_codes import raises_code

SCREEN = ScreenSize(width=640, height=480)


def context(seed: int = 0, *trajectory: Decision) -> AgentContext:
    return AgentContext(instruction="x", screen=SCREEN, max_steps=5, seed=seed, trajectory=trajectory)


def decisions(seed: int, count: int = 40, **params: object) -> list[Decision]:
    agent = Random(Random.Params.model_validate(params))
    agent.reset(context(seed))
    return [agent.act(Observation(index=index)) for index in range(count)]


class TestNoop:
    def test_noop_says_done(self) -> None:
        assert Noop(Noop.Params()).act(Observation(index=0)).actions == (Action(type=ActionType.DONE),)


class TestAlwaysFail:
    def test_always_fail_says_fail(self) -> None:
        assert AlwaysFail(AlwaysFail.Params()).act(Observation(index=0)).actions == (Action(type=ActionType.FAIL),)


class TestRandom:
    def test_the_same_seed_gives_the_same_actions(self) -> None:
        assert decisions(7) == decisions(7)
        assert decisions(7) != decisions(8)

    def test_every_action_can_be_carried_out(self) -> None:
        actions = [action for decision in decisions(1, 400) for action in decision.actions]
        assert [complaint(action, SCREEN) for action in actions if complaint(action, SCREEN)] == []
        assert len({action.type for action in actions}) == 6

    def test_several_actions_per_step(self) -> None:
        assert all(len(decision.actions) == 3 for decision in decisions(1, actions_per_step=3))

    def test_random_agent_can_stop(self) -> None:
        assert decisions(1, 1, stop_chance=1)[0].actions == (Action(type=ActionType.DONE),)

    def test_wrong_parameters_are_refused(self) -> None:
        with pytest.raises(ValidationError):
            Random({"actions_per_step": 0})

    def test_parameters_may_come_as_a_mapping(self) -> None:
        assert Random({"stop_chance": 0.5}).params.stop_chance == 0.5

    def test_before_the_episode_it_fails(self) -> None:
        with pytest.raises(AgentFailed):
            Random({}).act(Observation(index=0))


class TestReplay:
    def test_repeats_then_says_done_and_charges_nothing(self) -> None:
        recorded = Decision(actions=(Action(type=ActionType.CLICK, x=1, y=2),), explanation="w", usage=Usage(usd=1.0))
        agent = ReplayAgent(ReplayAgent.Params())
        agent.reset(context(0, recorded))
        again, end = agent.act(Observation(index=0)), agent.act(Observation(index=1))
        assert again == recorded.model_copy(update={"usage": Usage()})
        assert end.actions == (Action(type=ActionType.DONE),)

    def test_without_a_recording_it_fails(self) -> None:
        with raises_code(AgentFailed, "nothing_to_replay"):
            ReplayAgent(ReplayAgent.Params()).reset(context())
