"""Every registered agent behaves as the port says."""

from typing import Any

import pytest
from pydantic import BaseModel

from backend.domain import registry
from backend.domain.loop_actions import complaint
from backend.domain.ports_agent import AgentContext
from backend.domain.registry import Kind
from backend.domain.run import Screen
from backend.domain.trajectory import Action, ActionType, Decision, Observation
from tests.factories.starter_tasks import make_task

registry.load()
AGENTS = registry.names(Kind.AGENT)
SCREEN = Screen(width=640, height=480)
EMPTY = Observation(index=0, a11y_tree="<desktop-frame/>", windows=())


def made(name: str) -> Any:
    plugin = registry.lookup(Kind.AGENT, name)
    return plugin(plugin.Params())


def context(plugin: Any) -> AgentContext:
    return AgentContext(
        instruction="Write done.",
        screen=SCREEN,
        max_steps=5,
        seed=3,
        task=make_task(oracle=[{"press": "enter"}]) if plugin.privileged else None,
        trajectory=(Decision(actions=(Action(type=ActionType.DONE),), words="recorded"),),
    )


@pytest.mark.parametrize("name", AGENTS)
class TestAgents:
    def test_says_what_it_is(self, name: str) -> None:
        plugin = registry.lookup(Kind.AGENT, name)
        assert issubclass(plugin.Params, BaseModel)
        assert plugin.observation in registry.names(Kind.OBSERVATION)
        assert plugin.action_space in registry.names(Kind.ACTION_SPACE)
        assert len(plugin.about) > 20
        assert isinstance(plugin.privileged, bool)

    def test_every_parameter_has_a_help_text_and_a_default(self, name: str) -> None:
        for field in registry.lookup(Kind.AGENT, name).Params.model_fields.values():
            assert field.description
            assert not field.is_required()

    def test_an_unknown_parameter_is_refused(self, name: str) -> None:
        with pytest.raises(ValueError, match="nonsense"):
            registry.lookup(Kind.AGENT, name).Params.model_validate({"nonsense": 1})

    def test_decides_what_can_be_carried_out(self, name: str) -> None:
        agent = made(name)
        agent.reset(context(agent))
        decision = agent.act(EMPTY)
        assert isinstance(decision, Decision)
        assert decision.words
        assert [words for action in decision.actions if (words := complaint(action, SCREEN))] == []

    def test_two_of_them_do_not_disturb_each_other(self, name: str) -> None:
        first, second = made(name), made(name)
        for agent in (first, second):
            agent.reset(context(agent))
        assert first.act(EMPTY) == second.act(EMPTY)

    def test_can_be_used_again_and_closed_twice(self, name: str) -> None:
        agent = made(name)
        for _ in range(2):
            agent.reset(context(agent))
            agent.act(EMPTY)
            agent.close()
        agent.close()


class TestPrivileges:
    def test_only_those_that_need_it_see_the_task(self) -> None:
        assert {name for name in AGENTS if registry.lookup(Kind.AGENT, name).privileged} == {"oracle", "replay"}
