"""Identity and default name of a configuration."""

from typing import Any

import pytest

from backend.domain.model.run import RunConfig
from backend.services.capacity.config_checks import checked_params
from backend.services.configurations.definitions import default_name, definition_of, identity_hash, own_prompts

MINI = "prompt · gpt-5-mini"


def config(agent: str = "prompt", **more: Any) -> RunConfig:
    """A run's configuration with all defaults of the agent."""
    params = {"model": "gpt-5-mini", **more.pop("params", {})} if agent == "prompt" else more.pop("params", {})
    return RunConfig(agent=agent, params=checked_params(agent, params), **more)


def name(preset: str | None = None, **more: Any) -> str:
    return default_name(definition_of(config(**more), {}), preset)


class TestName:
    @pytest.mark.parametrize(
        ("more", "expected"),
        [
            ({}, "prompt · gpt-5-mini"),
            ({"observation": "set_of_marks"}, "prompt · gpt-5-mini · set_of_marks"),
            ({"params": {"history": 9}}, "prompt · gpt-5-mini · history=9"),
            ({"image": {"scale": 0.5}}, "prompt · gpt-5-mini · image x0.5"),
            ({"image": {"fit": (640, 480), "beside_previous": True}}, f"{MINI} · image 640x480 · previous image"),
            ({"agent": "noop"}, "noop"),
            ({"agent": "of another release", "params": {}}, "of another release"),
        ],
    )  # fmt: skip
    def test_has_what_a_reader_needs(self, more: dict[str, Any], expected: str) -> None:
        if more.get("agent") == "of another release":
            assert default_name(definition_of(RunConfig(**more), {})) == expected
        else:
            assert name(**more) == expected

    def test_leaves_out_what_the_preset_sets(self) -> None:
        assert name("prosoftarena", params={"top_p": 0.8}) == "prompt · gpt-5-mini"
        assert name(None, params={"top_p": 0.8}) == "prompt · gpt-5-mini · top_p=0.8"

    def test_conditions_are_not_part_of_the_name(self) -> None:
        assert name(budget={"max_steps": 50}, screen={"width": 1280, "height": 800}) == "prompt · gpt-5-mini"


class TestIdentity:
    BASE = definition_of(config(), {"prompt/system": "aa", "judge": "bb", "action_space": "cc"})

    def test_conditions_selection_and_foreign_prompts_do_not_count(self) -> None:
        other = config(provider="qemu", budget={"max_steps": 50}, tasks=("files/*",), repeats=3, preset="osworld")
        assert identity_hash(definition_of(other, {"prompt/system": "aa", "judge": "dd"})) == identity_hash(self.BASE)

    @pytest.mark.parametrize(
        "more", [{"observation": "screenshot_a11y"}, {"params": {"model": "gpt-5"}}, {"image": {"scale": 0.5}}]
    )
    def test_the_actor_is_part_of_the_identity(self, more: dict[str, Any]) -> None:
        assert identity_hash(definition_of(config(**more), {"prompt/system": "aa"})) != identity_hash(self.BASE)

    def test_prompts_change_the_identity(self) -> None:
        assert identity_hash(definition_of(config(), {"prompt/system": "zz"})) != identity_hash(self.BASE)


def test_prompts_of_another_release_have_no_text() -> None:
    from backend.domain.agents.prompt import Prompt

    prompts = dict(Prompt.prompts())
    first = min(prompts)
    texts = {each: text for each, _, text in own_prompts({"agent": "prompt", "prompts": {**prompts, first: "00"}})}
    assert texts.pop(first) is None
    assert None not in texts.values()


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({}, ""),
        ({"model": "m", "history": 3}, " · m · history=3"),
        ({"som": True, "tree": False, "note": "", "top_p": None, "model": "m"}, " · m · no note · som · no tree"),
        ({"temperature": 0.0, "history": 0}, " · history=0 · temperature=0.0"),
        ({"note": "m" * 24}, f" · note={'m' * 24}"),
        ({"note": "m" * 25}, f" · note={'m' * 23}…"),
    ],
)
def test_parameters_of_an_agent_without_known_defaults(params: dict[str, Any], words: str) -> None:
    assert default_name(definition_of(RunConfig(agent="other", params=params), {})) == f"other{words}"


def test_a_name_has_a_limit() -> None:
    assert default_name(definition_of(RunConfig(agent="a" * 161), {})) == "a" * 159 + "…"
