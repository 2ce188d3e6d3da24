import re
from pathlib import Path

from backend.domain.loop import agent_loop
from backend.services.runs.views.run_page import PHASES

CSS = Path("frontend/static/css/screens.css")


class TestPhases:
    def test_every_phase_of_the_loop_is_shown(self) -> None:
        assert set(agent_loop.PHASES) | {"reset", "health", "setup", "turn", "evaluation", "lost"} == set(PHASES)

    def test_each_has_a_look_of_its_own(self) -> None:
        looks = dict(re.findall(r"\.ph-(\w+) \{\s*fill: ([^;]+);", CSS.read_text()))
        assert set(looks) == set(PHASES)
        assert len(set(looks.values())) == len(looks)
