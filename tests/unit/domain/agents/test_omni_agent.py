"""`omni`: one JSON object per step."""

from backend.domain.model.trajectory import ActionType, ScreenView
from tests.fakes.models import FakeModels
from tests.unit.domain.agents.cases import TREE, begun, marked, pictures, texts

PRESS = (
    '{"Status": "CONTINUE", "Observation": "an editor", "Thought": "save it", "ControlLabel": "1", '
    '"ControlText": "Save", "Function": "click_input", "Args": {"button": "left", "double": false}}'
)
DONE = '{"Status": "FINISH", "Observation": "saved", "Thought": "", "ControlLabel": "", "Function": "", "Args": {}}'


class TestOmni:
    def test_clicks_then_finishes(self) -> None:
        models = FakeModels(PRESS, DONE)
        agent = begun("omni", models)
        first, second = agent.act(marked()), agent.act(marked(1))
        assert [(one.type, one.x, one.y) for one in first.actions] == [(ActionType.CLICK, 30, 30)]
        assert [one.type for one in second.actions] == [ActionType.DONE]
        assert "1\tpush-button\tSave\tSave" in texts(models.asked[0])
        assert "save it" in texts(models.asked[1])
        assert len(pictures(models.asked[1])) == 1

    def test_prompt_explains_side_by_side_screens(self) -> None:
        view = ScreenView(width=1280, height=480, left=640, right=1280, bottom=480, screen_width=640, screen_height=480)
        models = FakeModels(PRESS, PRESS)
        agent = begun("omni", models)
        agent.act(marked())
        agent.act(marked(1, view=view))
        assert "is the screen of now." in texts(models.asked[0])
        assert "that of now on its right" in texts(models.asked[1])

    def test_unexecuted_actions_are_listed_as_such(self) -> None:
        models = FakeModels("{}", PRESS)
        agent = begun("omni", models)
        assert agent.act(marked()).invalid
        agent.act(marked(1))
        assert "not carried out" in texts(models.asked[1])

    def test_controls_have_what_they_lie_in(self) -> None:
        inner = TREE.partition("\n<push-button")
        tree = inner[0] + '\n<tool-bar name="Main"><push-button' + inner[2].replace("</desk", "</tool-bar></desk")
        models = FakeModels(PRESS, PRESS)
        agent = begun("omni", models)
        agent.act(marked(a11y_tree=tree))
        agent.act(marked(1, a11y_tree="<not closed"))
        assert "1\tpush-button\tSave\tSave\tMain\ttool-bar" in texts(models.asked[0])
        assert "1\tpush-button\tSave\tSave\n" in texts(models.asked[1])

    def test_the_oldest_steps_are_left_out(self) -> None:
        models = FakeModels(always=PRESS)
        agent = begun("omni", models, history=2)
        for index in range(5):
            agent.act(marked(index))
        assert "\n2. " in texts(models.asked[4])
        assert "\n3. " not in texts(models.asked[4])
