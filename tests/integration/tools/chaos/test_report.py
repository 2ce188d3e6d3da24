"""The folder of a campaign, and its report."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast
from uuid import uuid4

import pytest

from tools.chaos.campaign import tidy
from tools.chaos.invariants import Violation
from tools.chaos.recovery import Uptake
from tools.chaos.report import CampaignOutcome, table
from tools.chaos.stack import ChaosStack

HELD = CampaignOutcome(1, 2, ["kill worker"])


@pytest.fixture
def stack(tmp_path: Path) -> ChaosStack:
    """One that was closed, with a log in its folder."""
    folder = tmp_path / "chaos-1"
    folder.mkdir()
    (folder / "log").write_text("words")
    made = SimpleNamespace(folder=folder)
    made.discard = lambda: ChaosStack.discard(cast("ChaosStack", made))
    return cast("ChaosStack", made)


class TestTidy:
    def test_folder_is_removed_after_success(self, stack: ChaosStack) -> None:
        tidy(stack, HELD, keep=False)
        assert not stack.folder.exists()

    def test_folder_is_preserved_on_request(self, stack: ChaosStack) -> None:
        tidy(stack, HELD, keep=True)
        assert (stack.folder / "log").read_text() == "words"

    def test_folder_is_preserved_and_named_after_a_violation(
        self, stack: ChaosStack, capsys: pytest.CaptureFixture[str]
    ) -> None:
        broken = CampaignOutcome(
            1, 2, ["kill worker"], violations=[("1", Violation("none lost", "none is lost", "one is"))]
        )
        tidy(stack, broken, keep=False)
        assert (stack.folder / "log").exists()
        assert str(stack.folder) in capsys.readouterr().err


class TestPassed:
    def test_a_campaign_that_measured_no_uptake_of_many_lost_workers_did_not(self) -> None:
        many = CampaignOutcome(1, 20, ["kill worker"], injected={"kill worker": 20})
        assert not many.passed
        assert "too little for so many lost workers" in table(many)
        measured = Uptake(uuid4(), 3.0, other=True, free=True, alone=True)
        assert CampaignOutcome(1, 20, ["kill worker"], injected={"kill worker": 20}, uptakes=[measured]).passed
        assert CampaignOutcome(1, 3, ["kill worker"], injected={"kill worker": 3}).passed


class TestTable:
    def test_says_after_which_faults_nothing_was_asked(self) -> None:
        told = table(CampaignOutcome(1, 9, [], unchecked=["3", "5-6"], unready=["7"]))
        assert "Nothing could be asked after fault 3, 5-6." in told
        assert "Fault 7 came while too few episodes ran" in told
        assert "asked after" not in table(HELD)
