"""Every registered agent behaves as the port says."""

from typing import Any

import pytest
from pydantic import BaseModel

from backend.domain import registry
from backend.domain.errors import AgentFailed, ModelApiFailed
from backend.domain.loop.action_execution import complaint
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import Action, ActionType, Decision, Observation
from backend.domain.ports.agent import AgentContext, FollowsRecords
from backend.domain.registry import PluginKind
from tests.error_codes import raises_code
from tests.factories.starter_tasks import make_task
from tests.fakes.agent_channel import FakeLine
from tests.fakes.models import COST, FakeModels

registry.load()
AGENTS = registry.names(PluginKind.AGENT)
SCREEN = ScreenSize(width=640, height=480)
EMPTY = Observation(index=0, a11y_tree="<desktop-frame/>", windows=())
# What comes over the line from outside, twice: a program's answer and a person's read alike.
ANSWERS = ({"index": 0, "explanation": "All is done.", "reply": "DONE", "actions": [{"type": "DONE"}]},) * 2


def asks(name: str) -> bool:
    """Whether it asks a model."""
    return "model" in registry.lookup(PluginKind.AGENT, name).Params.model_fields


def made(name: str) -> Any:
    plugin = registry.lookup(PluginKind.AGENT, name)
    return plugin(plugin.Params.model_validate(dict.fromkeys(getattr(plugin.Params, "models", ()), "m")))


def timeless(decision: Decision) -> Decision:
    """The decision without the seconds that its models took."""
    calls = tuple(call.model_copy(update={"seconds": 0.0}) for call in decision.model_calls)
    return decision.model_copy(update={"model_calls": calls})


def context(plugin: Any) -> AgentContext:
    return AgentContext(
        instruction="Write done.",
        screen=SCREEN,
        max_steps=5,
        seed=3,
        task=make_task(oracle=[{"press": "enter"}]) if plugin.privileged else None,
        trajectory=(Decision(actions=(Action(type=ActionType.DONE),), explanation="recorded"),),
        action_space=plugin.action_space,
        models=FakeModels(always="DONE"),
        line=FakeLine(*ANSWERS),
    )


@pytest.mark.parametrize("name", AGENTS)
class TestAgents:
    def test_says_what_it_is(self, name: str) -> None:
        plugin = registry.lookup(PluginKind.AGENT, name)
        assert issubclass(plugin.Params, BaseModel)
        assert plugin.observation in registry.names(PluginKind.OBSERVATION)
        assert plugin.action_space in registry.names(PluginKind.ACTION_SPACE)
        assert len(plugin.about) > 20
        assert isinstance(plugin.privileged, bool)

    def test_every_parameter_has_a_help_text_and_a_default(self, name: str) -> None:
        for field in registry.lookup(PluginKind.AGENT, name).Params.model_fields.values():
            assert field.description
            assert not field.is_required()

    def test_an_unknown_parameter_is_refused(self, name: str) -> None:
        with pytest.raises(ValueError, match="nonsense"):
            registry.lookup(PluginKind.AGENT, name).Params.model_validate({"nonsense": 1})

    def test_decides_what_can_be_carried_out(self, name: str) -> None:
        agent = made(name)
        agent.reset(context(agent))
        decision = agent.act(EMPTY)
        assert isinstance(decision, Decision)
        assert decision.explanation
        assert [words for action in decision.actions if (words := complaint(action, SCREEN))] == []

    def test_two_of_them_do_not_disturb_each_other(self, name: str) -> None:
        first, second = made(name), made(name)
        for agent in (first, second):
            agent.reset(context(agent))
        assert timeless(first.act(EMPTY)) == timeless(second.act(EMPTY))

    def test_can_be_used_again_and_closed_twice(self, name: str) -> None:
        agent = made(name)
        for _ in range(2):
            agent.reset(context(agent))
            agent.act(EMPTY)
            agent.close()
        agent.close()


@pytest.mark.parametrize("name", [name for name in AGENTS if asks(name)])
class TestAgentsThatAskModels:
    def test_tell_what_they_asked_what_was_answered_and_what_it_cost(self, name: str) -> None:
        agent = made(name)
        agent.reset(context(agent))
        decision = agent.act(EMPTY)
        assert decision.usage == COST
        assert decision.reply == "DONE"
        assert decision.model
        assert "Write done." in decision.prompt
        assert [action.type for action in decision.actions] == [ActionType.DONE]

    def test_an_answer_that_is_none_is_told_not_raised(self, name: str) -> None:
        agent = made(name)
        agent.reset(context(agent).model_copy(update={"models": FakeModels("```python\n(((\n```")}))
        decision = agent.act(EMPTY)
        assert decision.invalid
        assert decision.actions == ()

    def test_an_api_that_fails_is_not_the_agents_failure(self, name: str) -> None:
        agent = made(name)
        agent.reset(context(agent).model_copy(update={"models": FakeModels(ModelApiFailed("down"))}))
        with pytest.raises(ModelApiFailed):
            agent.act(EMPTY)

    def test_say_whose_model_is_missing(self, name: str) -> None:
        plugin = registry.lookup(PluginKind.AGENT, name)
        with raises_code(AgentFailed, "no_model"):
            plugin(plugin.Params()).reset(context(plugin))

    def test_prompts_have_hashes(self, name: str) -> None:
        hashes = registry.lookup(PluginKind.AGENT, name).prompts()
        assert f"{name}/system" in hashes
        assert all(len(value) == 64 for value in hashes.values())


class TestPrivileges:
    def test_only_those_that_need_it_see_the_task(self) -> None:
        assert {name for name in AGENTS if registry.lookup(PluginKind.AGENT, name).privileged} == {"oracle", "replay"}


FOLLOWING = [name for name in AGENTS if isinstance(made(name), FollowsRecords)]


@pytest.mark.parametrize("name", FOLLOWING)
def test_recorded_steps_become_its_history(name: str) -> None:
    agent, plugin = made(name), registry.lookup(PluginKind.AGENT, name)
    asked = context(plugin)
    agent.reset(asked)
    reply = "I recorded this.\n```python\nrecorded = 7\n```"
    press = Action(type=ActionType.PRESS, keys=("enter",))
    agent.follow(EMPTY, Decision(actions=(press,), explanation="I recorded this.", reply=reply))
    models = asked.models
    assert isinstance(models, FakeModels)
    assert models.asked == []
    agent.act(EMPTY.model_copy(update={"index": 1}))
    texts = [part.text or "" for message in models.asked[0].messages for part in message.parts]
    assert any("recorded = 7" in text or "I recorded this." in text for text in texts)


def test_every_agent_that_asks_a_model_can_be_asked_at_recorded_steps() -> None:
    assert [name for name in AGENTS if asks(name) and name not in FOLLOWING] == []
