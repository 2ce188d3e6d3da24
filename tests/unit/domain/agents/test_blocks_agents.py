"""`navi` and `prosoft`: the question of a step, the memory, the pictures."""

from typing import Any

import pytest

from backend.domain.model.trajectory import ActionType, Mark
from backend.domain.ports.model import ModelReply, StopReason
from tests.fakes.models import COST, FakeModels
from tests.unit.domain.agents.cases import SAVE, TREE, begun, frame, marked, pictures, roles, texts

ACT = """1. An editor.
```decision
COMMAND
```
```python
computer.mouse.move_id(id=1)
computer.mouse.single_click()
```
```memory
the file is called a.txt
```"""
BOTH = pytest.mark.parametrize("name", ["navi", "prosoft"])


@BOTH
class TestQuestion:
    def asked(self, name: str, observation: Any, **params: Any) -> Any:
        models = FakeModels(ACT)
        begun(name, models, **params).act(observation)
        return models.asked[0]

    def test_prompt_contains_every_observation(self, name: str) -> None:
        words = texts(self.asked(name, marked()))
        for part in (
            "Save the file.",
            "Window in front: Editor",
            "- Notes",
            "copied",
            "1\tcontrol\tSave\t(0.016, 0.042",
        ):
            assert part in words

    def test_raw_and_numbered_screen(self, name: str) -> None:
        request = self.asked(name, marked())
        assert roles(request) == ["system", "user"]
        assert len(pictures(request)) == 2

    def test_the_step_before_as_well(self, name: str) -> None:
        assert len(pictures(self.asked(name, marked(previous=frame())))) == 3
        assert len(pictures(self.asked(name, marked(previous=frame()), use_last_screen=False, raw_screen=False))) == 1

    def test_large_pictures_are_made_smaller(self, name: str) -> None:
        big = marked(frame=frame(1920, 1080), agent_view=frame(1920, 1080))
        assert {(one.width, one.height) for one in pictures(self.asked(name, big))} == {(1365, 768)}


ICON = Mark(id=2, kind="icon", x=100, y=20, width=20, height=20, origin="detector")
LINE = Mark(id=3, kind="text", text="Total", x=320, y=24, width=60, height=14, origin="ocr")
COPY = ACT.replace("computer.mouse.move_id(id=1)\ncomputer.mouse.single_click()", "computer.clipboard.copy_image(id=2)")
NAMED_COPY = COPY.replace("id=2", "id=2, description='a chart')").replace("))", ")")


class TestNavisTexts:
    def test_text_that_ocr_reads_stands_where_it_is(self) -> None:
        models = FakeModels(ACT, ACT)
        agent = begun("navi", models)
        agent.act(marked(marks=(SAVE, LINE)))
        agent.act(marked(1, marks=(SAVE,)))
        (line,) = [line for line in texts(models.asked[0]).splitlines() if line.strip().startswith("Save  ")]
        assert line.index("Total") == 60
        assert "roughly where it stands" not in texts(models.asked[1])

    def test_icons_without_a_text_are_described_once(self) -> None:
        models = FakeModels("1: a gear, settings", ACT, ACT)
        agent = begun("navi", models, describer_model="d", describer_endpoint="local")
        first = agent.act(marked(marks=(SAVE, ICON)))
        second = agent.act(marked(1, marks=(SAVE, ICON)))
        assert "2\ticon\ta gear, settings" in texts(models.asked[1])
        assert "2\ticon\ta gear, settings" in texts(models.asked[2])
        assert [(call.part, call.endpoint) for call in first.model_calls] == [
            ("planner", "openai"),
            ("describer", "local"),
        ]
        assert (first.usage, second.usage, second.model_calls) == (COST + COST, COST, ())

    @pytest.mark.parametrize(
        ("answer", "failure"),
        [("I cannot.", "unclear"), (ModelReply(text="1: a", stop=StopReason.LENGTH), "incomplete")],
    )
    def test_a_description_that_fails_costs_no_step(self, answer: Any, failure: str) -> None:
        models = FakeModels(answer, ACT)
        decision = begun("navi", models, describer_model="d").act(marked(marks=(SAVE, ICON)))
        assert not decision.invalid
        assert [call.failure for call in decision.model_calls] == [None, failure]

    def test_a_copied_picture_is_described(self) -> None:
        models = FakeModels("1: a gear", COPY, ACT)
        agent = begun("navi", models, describer_model="d")
        agent.act(marked(marks=(SAVE, ICON)))
        agent.act(marked(1, marks=(SAVE,), clipboard=""))
        assert "a picture: a gear" in texts(models.asked[-1])

    def test_a_copied_picture_has_the_agents_words_without_a_describer(self) -> None:
        models = FakeModels(NAMED_COPY, ACT)
        agent = begun("navi", models)
        agent.act(marked(marks=(SAVE, ICON)))
        agent.act(marked(1, marks=(SAVE,), clipboard=""))
        assert "a picture: a chart" in texts(models.asked[-1])


@BOTH
class TestMemory:
    def test_the_memory_and_the_code_come_back(self, name: str) -> None:
        models = FakeModels(ACT, "```decision\nDONE\n```")
        agent = begun(name, models)
        first, second = agent.act(marked()), agent.act(marked(1))
        assert [one.type for one in first.actions][-1] is ActionType.CLICK
        assert [one.type for one in second.actions] == [ActionType.DONE]
        words = texts(models.asked[1].messages[1:])
        assert "the file is called a.txt" in words
        assert "computer.mouse.move_id(id=1)" in words
        assert "1 step ago" in words
        assert len(pictures(models.asked[1])) == 3

    def test_a_reply_without_memory_keeps_it(self, name: str) -> None:
        models = FakeModels(ACT, "```decision\nWAIT\n```", ACT)
        agent = begun(name, models)
        for index in range(3):
            agent.act(marked(index))
        assert "the file is called a.txt" in texts(models.asked[2].messages[1:])

    def test_earlier_actions_are_bounded(self, name: str) -> None:
        models = FakeModels(always=ACT)
        agent = begun(name, models, n_prev=2)
        for index in range(5):
            agent.act(marked(index))
        assert texts(models.asked[4].messages[1:]).count("step ago") == 1
        assert texts(models.asked[4].messages[1:]).count("steps ago") == 1


class TestProsoft:
    def test_prompt_contains_step_count_and_tree(self) -> None:
        models = FakeModels(ACT)
        begun("prosoft", models, steps=35).act(marked(4, a11y_tree=TREE))
        words = texts(models.asked[0])
        assert "step 5 of 35; 31 left" in words
        assert "push-button\tSave" in words
        assert (models.asked[0].temperature, models.asked[0].top_p) == (1.0, 0.8)

    def test_navi_sees_no_tree(self) -> None:
        models = FakeModels(ACT)
        begun("navi", models).act(marked(a11y_tree=TREE))
        assert "push-button" not in texts(models.asked[0])
