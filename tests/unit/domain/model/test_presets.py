"""Presets fill in what is left open, and nothing else."""

from typing import Any

import pytest

from backend.domain import registry
from backend.domain.errors import Invalid
from backend.domain.model.presets import PRESETS, with_preset
from backend.domain.model.run import RunConfig
from backend.domain.registry import PluginKind

registry.load()


def resolved(agent: str = "prompt", **asked: Any) -> RunConfig:
    known = frozenset(registry.lookup(PluginKind.AGENT, agent).Params.model_fields)
    return RunConfig.model_validate(with_preset({"agent": agent, **asked}, known))


class TestFilled:
    def test_no_preset_changes_nothing(self) -> None:
        assert resolved() == RunConfig(agent="prompt")

    def test_osworld_sets_its_published_values(self) -> None:
        config = resolved(preset="osworld")
        assert (config.screen.width, config.screen.height) == (1920, 1080)
        assert (config.budget.max_steps, config.budget.max_seconds) == (15, 1800.0)
        assert config.params == {
            "history": 3,
            "temperature": 1.0,
            "top_p": 0.9,
            "max_tokens": 1500,
            "tree_tokens": 10_000,
        }
        assert (config.wait.quiet, config.wait.timeout) == (0.5, 5.0)
        assert config.preset == "osworld"

    def test_requested_values_override_the_preset(self) -> None:
        asked: dict[str, Any] = {
            "budget": {"max_steps": 50},
            "params": {"temperature": 0.0},
            "screen": {"width": 800, "height": 600},
        }
        config = resolved(preset="osworld", **asked)
        assert (config.budget.max_steps, config.budget.max_seconds) == (50, 1800.0)
        assert (config.params["temperature"], config.params["top_p"]) == (0.0, 0.9)
        assert config.screen.width == 800

    def test_explicit_default_overrides_the_preset(self) -> None:
        assert resolved(preset="waa", screen={"width": 1920, "height": 1080}).screen.width == 1920

    def test_agent_gets_only_parameters_that_it_accepts(self) -> None:
        assert resolved("noop", preset="osworld").params == {}

    def test_steps_by_level_give_way_to_steps(self) -> None:
        budget = resolved(preset="prosoftarena").budget
        assert [budget.steps_of(level, 7) for level in ("L1", "L2", "L3", "L4", None)] == [35, 55, 100, 55, 7]
        assert resolved(preset="prosoftarena", budget={"max_steps": 9}).budget.steps_of("L3", 7) == 9

    def test_paper_observation_is_for_the_papers_agents_only(self) -> None:
        assert resolved("prosoft", preset="prosoftarena").observation == "set_of_marks"
        assert resolved("random", preset="prosoftarena").observation is None
        assert resolved("prosoft", preset="prosoftarena", observation="screenshot").observation_params is None

    def test_requested_image_options_override_the_preset(self) -> None:
        assert resolved("omni", preset="omnibench").image is not None
        config = resolved("omni", preset="omnibench", image={"scale": 0.5})
        assert config.image is not None
        assert (config.image.fit, config.image.scale, config.image.beside_previous) == (None, 0.5, False)

    def test_unknown_preset_lists_the_known_ones(self) -> None:
        with pytest.raises(Invalid) as caught:
            resolved(preset="osword")
        assert caught.value.path == "preset"
        assert "osworld" in caught.value.hint


class TestPresets:
    @pytest.mark.parametrize("name", sorted(PRESETS))
    @pytest.mark.parametrize("agent", ["noop", "prompt", "navi", "prosoft", "omni", "computer_use"])
    def test_every_preset_is_valid_for_every_agent(self, name: str, agent: str) -> None:
        config = resolved(agent, preset=name, params={"model": "m"})
        registry.lookup(PluginKind.AGENT, agent).Params.model_validate(dict(config.params) if agent != "noop" else {})
        if config.observation:
            space = registry.lookup(PluginKind.OBSERVATION, config.observation)
            space.Params.model_validate(dict(config.observation_params or {}))
