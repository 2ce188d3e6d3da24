"""Pins of a run's agent."""

from datetime import date
from typing import Any

from backend.domain.model.run import RunConfig
from backend.services.runs.provenance import MOST_MODELS, code_version, pins_of, with_answering_model

TODAY = date(2026, 11, 22)


def pins(**more: Any) -> dict[str, Any]:
    params = {"model": "gpt-4o", "endpoint": "openai", "temperature": 1.0}
    given = {"agent": "prompt", "params": params, "observation": "a11y_tree", "action_space": "pyautogui", **more}
    return pins_of(RunConfig.model_validate(given), {}, TODAY)


class TestPinsOf:
    def test_the_model_and_its_price_of_today(self) -> None:
        model = pins()["model"]
        assert (model["asked"], model["endpoint"], model["api"], model["answered"]) == (
            "gpt-4o", "openai", "openai_chat", [],
        )  # fmt: skip
        assert model["price"]["input"] == 2.5

    def test_endpoint_facts_come_from_the_workers(self) -> None:
        params = {"model": "mine", "endpoint": "local"}
        said = {
            "local": {
                "api": "openai_chat",
                "prices": [{"model": "mine", "since": "2026-01-01", "input": 1, "output": 2}],
            }
        }
        config = RunConfig(agent="prompt", params=params, observation="screenshot", action_space="pyautogui")
        model = pins_of(config, said, TODAY)["model"]
        assert (model["api"], model["price"]["output"]) == ("openai_chat", 2)

    def test_an_unknown_price_is_none(self) -> None:
        assert pins(params={"model": "nobody-knows", "endpoint": "openai"})["model"]["price"] is None

    def test_hashes_of_prompts_and_of_what_the_action_space_says(self) -> None:
        first, second = pins(), pins(action_space="computer_13")
        assert set(first["prompts"]) == {"prompt/system", "prompt/step", "action_space"}
        assert first["prompts"]["prompt/system"] == second["prompts"]["prompt/system"]
        assert first["prompts"]["action_space"] != second["prompts"]["action_space"]

    def test_spaces_with_all_their_options(self) -> None:
        found = pins(observation_params={"clipboard": True})["observation"]
        assert found["name"] == "a11y_tree"
        assert (found["params"]["clipboard"], found["params"]["terminal"]) == (True, False)

    def test_an_agent_without_a_model(self) -> None:
        found = pins_of(RunConfig(agent="noop", observation="screenshot"), {}, TODAY)
        assert "model" not in found
        assert found["prompts"] == {}

    def test_code_and_budgets(self) -> None:
        found = pins(budget={"max_tokens": 7})
        assert found["code"] == code_version()
        assert found["code"]["version"]
        assert found["budget"]["max_tokens"] == 7


class TestAnswered:
    def test_a_model_is_noted_once(self) -> None:
        first = with_answering_model(pins(), "gpt-4o-2024-08-06")
        assert first is not None
        assert first["model"]["answered"] == ["gpt-4o-2024-08-06"]
        assert with_answering_model(first, "gpt-4o-2024-08-06") is None

    def test_number_of_answering_models_is_limited(self) -> None:
        noted: dict[str, Any] | None = pins()
        for number in range(MOST_MODELS):
            assert noted is not None
            noted = with_answering_model(noted, f"m{number}")
        assert noted is not None
        assert len(noted["model"]["answered"]) == MOST_MODELS
        assert with_answering_model(noted, "one more") is None

    def test_no_answering_model_changes_nothing(self) -> None:
        assert with_answering_model(pins(), "") is None
        assert with_answering_model({"prompts": {}}, "m") is None
