"""A small campaign on the whole stack; `make chaos` has the large one."""

from dataclasses import replace

import pytest

from tests.chaos.campaign import LOCAL, Settings, conduct, kinds
from tests.chaos.plan import plan
from tests.chaos.report import Outcome, table
from tests.sampling import runs_everything, seed

pytestmark = [pytest.mark.desktop, pytest.mark.stack, pytest.mark.timeout(1500)]
FAULTS = 10
TASKS = ("terminal/count_lines", "terminal/restore_poem", "terminal/make_executable")


class TestSmallCampaign:
    def test_nothing_is_lost_double_wrong_or_left_behind(self) -> None:
        # Clocks need a package that `make chaos` installs, and every pause beyond a lease takes its time.
        slow = () if runs_everything() else ("freeze postgres", "freeze worker", "part database")
        wanted = [name for name in kinds() if not name.startswith("clock") and name not in slow]
        number = FAULTS * 4 if runs_everything() else FAULTS
        outcome = Outcome(seed(), number, wanted)
        conduct(Settings(seed(), work=replace(LOCAL, tasks=TASKS)), outcome, plan(seed(), number, wanted))
        assert [f"after fault {numbers}: {violation}" for numbers, violation in outcome.violations] == [], table(
            outcome
        )
        assert sum(outcome.injected.values()) == number
        assert outcome.counts["episodes scored"] >= 2 * len(TASKS)
