"""`gui_model`: what native GUI models are shown."""

from typing import get_args

import pytest

from backend.domain.actions.gui_model import GuiModelActions
from backend.domain.model.gui_formats import GuiFormat
from backend.domain.ports.agent import CoordinateFrame
from tests.fakes.models import FakeModels
from tests.unit.domain.agents.cases import SCREEN, begun, pictures, roles, seen, texts

WAIT = "Thought: It loads.\nAction: wait()"


class TestConversation:
    def test_the_task_comes_first_and_screens_follow_in_turns(self) -> None:
        models = FakeModels(WAIT, WAIT, WAIT)
        agent = begun("gui_model", models, images=2)
        for index in range(3):
            assert [one.type for one in agent.act(seen(index)).actions] == ["WAIT"]
        assert roles(models.asked[-1]) == ["system", "user", "assistant", "user", "assistant", "user"]
        assert len(pictures(models.asked[-1])) == 2
        assert texts(models.asked[-1]).count("Save the file.") == 1

    def test_history_limits_the_turns(self) -> None:
        models = FakeModels(WAIT, WAIT)
        agent = begun("gui_model", models, history=0)
        agent.act(seen())
        agent.act(seen(1))
        assert roles(models.asked[-1]) == ["system", "user"]
        assert "Save the file." in texts(models.asked[-1])

    def test_a_reply_that_cannot_be_read_is_reported(self) -> None:
        models = FakeModels("I click somewhere.", WAIT)
        agent = begun("gui_model", models)
        first = agent.act(seen())
        agent.act(seen(1, note=first.invalid))
        assert first.invalid
        assert first.invalid in texts(models.asked[-1])

    @pytest.mark.parametrize("name", get_args(GuiFormat))
    def test_every_format_has_its_own_instructions_with_an_example_that_is_read(self, name: str) -> None:
        models = FakeModels("DONE")
        begun("gui_model", models, action_params={"format": name}).act(seen())
        space = GuiModelActions(GuiModelActions.Params.model_validate({"format": name}))
        example = space.place_instructions(CoordinateFrame()).splitlines()[1]
        assert space.instructions(CoordinateFrame(screen=SCREEN)) in texts(models.asked[0])
        assert space.parse(example, CoordinateFrame())[0].x is not None
