"""`prompt`: the request by setting, history, truncation, parsing of answers."""

from typing import Any

import pytest

from backend.domain.errors import AgentFailed, Invalid, ModelApiFailed
from backend.domain.model.trajectory import ActionType, Observation
from backend.domain.ports.model import ModelReply
from tests.error_codes import raises_code
from tests.fakes.models import COST, FakeModels
from tests.unit.domain.agents.cases import TREE, begun, marked, pictures, roles, seen, texts

CLICK = "I press Save.\n```python\nimport pyautogui\npyautogui.click(30, 30)\n```"


class TestSettings:
    def asked(self, observation: Observation, **params: Any) -> tuple[str, int]:
        models = FakeModels(CLICK)
        begun("prompt", models, **params).act(observation)
        return texts(models.asked[0]), len(pictures(models.asked[0]))

    def test_prompt_describes_the_screenshot(self) -> None:
        words, shown = self.asked(seen())
        assert shown == 1
        assert "a picture of the screen." in words
        assert "accessibility tree" not in words

    def test_prompt_contains_the_tree(self) -> None:
        words, shown = self.asked(Observation(index=0, a11y_tree=TREE))
        assert shown == 0
        assert "push-button\tSave" in words

    def test_prompt_has_screenshot_and_tree(self) -> None:
        words, shown = self.asked(seen(a11y_tree=TREE))
        assert shown == 1
        assert "push-button\tSave" in words

    def test_numbered_elements_come_as_a_table_without_the_tree(self) -> None:
        words, shown = self.asked(marked(a11y_tree=TREE))
        assert shown == 1
        assert "1\tpush-button\tSave\tSave" in words
        assert "screencoord" not in words
        assert "(10, 20)" not in words

    def test_the_tree_is_cut_at_its_tokens(self) -> None:
        many = TREE.replace(
            "</desktop-frame>", TREE.split("\n", 2)[2].replace("</desktop-frame>", "") * 400 + "</desktop-frame>"
        )
        words, _ = self.asked(Observation(index=0, a11y_tree=many), tree_tokens=500)
        assert "[..." in words
        assert words.count("push-button") < 60

    def test_a_tree_that_cannot_be_read_is_said_to_be_so(self) -> None:
        assert "cannot be read" in self.asked(Observation(index=0, a11y_tree="<a"))[0]

    def test_task_text_is_not_a_template(self) -> None:
        models = FakeModels(CLICK)
        begun("prompt", models, instruction="Write {{ 7 * 7 }} {% raw %}").act(seen())
        assert "Write {{ 7 * 7 }} {% raw %}" in texts(models.asked[0])

    def test_the_sampling_is_osworlds(self) -> None:
        models = FakeModels(CLICK)
        begun("prompt", models).act(seen())
        asked = models.asked[0]
        assert (asked.model, asked.temperature, asked.top_p, asked.max_tokens, asked.seed) == (
            "m",
            1.0,
            0.9,
            1500,
            None,
        )

    def test_the_seed_is_sent_if_asked_for(self) -> None:
        models = FakeModels(CLICK)
        begun("prompt", models, send_seed=True).act(seen())
        assert models.asked[0].seed == 3


class TestHistory:
    def steps(self, count: int, **params: Any) -> FakeModels:
        models = FakeModels(*[f"step {number}\n{CLICK}" for number in range(count)])
        agent = begun("prompt", models, **params)
        for index in range(count):
            agent.act(seen(index))
        return models

    def test_the_last_three_steps_are_turns_of_the_chat(self) -> None:
        asked = self.steps(5).asked[4]
        assert roles(asked) == ["system", *["user", "assistant"] * 3, "user"]
        assert [f"step {number}" in texts(asked) for number in range(4)] == [False, True, True, True]
        assert len(pictures(asked)) == 4

    def test_history_can_be_disabled(self) -> None:
        assert roles(self.steps(3, history=0).asked[2]) == ["system", "user"]

    def test_old_pictures_are_left_out(self) -> None:
        assert len(pictures(self.steps(4, images=2).asked[3])) == 2

    def test_the_oldest_is_left_out_of_a_long_input(self) -> None:
        asked = self.steps(4, max_input_tokens=4000).asked[3]
        assert "step 0" not in texts(asked)
        assert "step 2" in texts(asked)

    def test_the_oldest_is_left_out_when_the_api_says_too_long(self) -> None:
        models = FakeModels(CLICK, CLICK, Invalid("maximum context length is 8 tokens"), CLICK)
        agent = begun("prompt", models)
        for index in range(3):
            agent.act(seen(index))
        assert [len(asked.messages) for asked in models.asked] == [2, 4, 6, 4]

    def test_history_is_cleared_between_episodes(self) -> None:
        models = FakeModels(always=CLICK)
        agent = begun("prompt", models)
        agent.act(seen())
        agent.reset(agent.context)
        agent.act(seen())
        assert roles(models.asked[1]) == ["system", "user"]


class TestAnswers:
    def decided(self, *answers: Any) -> Any:
        return begun("prompt", FakeModels(*answers)).act(seen())

    def test_code_becomes_an_action_and_the_exchange_is_recorded(self) -> None:
        decision = self.decided(CLICK)
        assert [(one.type, one.x, one.y) for one in decision.actions] == [(ActionType.CLICK, 30, 30)]
        assert decision.explanation == "I press Save."
        assert decision.reply == CLICK
        assert decision.usage == COST
        assert decision.model == "fake-2026-01-01"
        assert "Save the file." in decision.prompt
        assert "[picture, 640x480, image/png]" in decision.prompt

    def test_answer_done_ends_the_episode(self) -> None:
        assert [one.type for one in self.decided("DONE").actions] == [ActionType.DONE]

    def test_invalid_actions_are_reported_and_not_executed(self) -> None:
        decision = self.decided("```python\nimport pyautogui\npyautogui.click(30,\n```")
        assert decision.actions == ()
        assert decision.invalid

    def test_a_refusal_is_an_invalid_answer(self) -> None:
        assert "refused" in self.decided(ModelReply(stop="refusal")).invalid

    def test_a_long_prompt_is_bounded(self) -> None:
        models = FakeModels(CLICK)
        decision = begun("prompt", models, instruction="x" * 400_000).act(seen())
        assert len(decision.prompt) < 201_000
        assert "further characters" in decision.prompt


class TestFailures:
    def test_no_model_clients(self) -> None:
        with raises_code(AgentFailed, "no_model_client"):
            begun("prompt", None)  # type: ignore[arg-type]

    def test_no_model_named(self) -> None:
        with raises_code(AgentFailed, "no_model"):
            begun("prompt", FakeModels(), model="")

    def test_an_endpoint_that_is_not_there_is_the_machines(self) -> None:
        with raises_code(ModelApiFailed, "lost", mentions="nowhere"):
            begun("prompt", FakeModels(known=["openai"]), endpoint="nowhere")

    def test_the_api_failing_is_the_machines(self) -> None:
        with pytest.raises(ModelApiFailed):
            begun("prompt", FakeModels(ModelApiFailed("down"))).act(seen())

    def test_a_first_request_that_is_refused_is_not_a_score(self) -> None:
        with raises_code(ModelApiFailed, "model_request_rejected"):
            begun("prompt", FakeModels(Invalid("unknown field top_k"))).act(seen())

    def test_a_later_one_is_the_agents(self) -> None:
        agent = begun("prompt", FakeModels(CLICK, Invalid("not allowed by policy")))
        agent.act(seen())
        with raises_code(AgentFailed, "model_context_full"):
            agent.act(seen(1))

    @pytest.mark.parametrize("name", ["api_key", "Authorization", "x-api-key", "access_token"])
    def test_no_secret_among_the_parameters(self, name: str) -> None:
        with pytest.raises(ValueError, match="looks like a secret"):
            begun("prompt", FakeModels(), extra={name: "x"})

    def test_other_fields_of_the_api_go_through(self) -> None:
        models = FakeModels(CLICK)
        begun("prompt", models, extra={"reasoning_effort": "low", "max_completion_tokens": 10}).act(seen())
        assert models.asked[0].extra == {"reasoning_effort": "low", "max_completion_tokens": 10}
