"""Small campaigns on the whole stack; `make chaos` has the large ones."""

from dataclasses import replace

import pytest

from tests.factories.tiny_machine import needs_qemu
from tests.sampling import runs_everything, sample, seed
from tools.chaos.campaign import LOCAL, CampaignSettings, conduct, kinds
from tools.chaos.clustered import CLUSTER, ClusterStack
from tools.chaos.plan import plan
from tools.chaos.report import CampaignOutcome, table

pytestmark = [pytest.mark.desktop, pytest.mark.stack, pytest.mark.timeout(1500)]
FAULTS = 6
TASKS = ("terminal/count_lines", "terminal/restore_poem", "terminal/make_executable")
ONE_SEED_IN = 4
"""A stack, a template and pods of emulated machines: it takes a minute, and runs for SEED=1, 5, 9 and so on."""
QUICK = (
    *(
        "delete pod",
        "evict pod",
        "evict pod for disk pressure",
        "out of memory",
        "replace pod",
        "kill machine",
        "kill supervisor",
    ),
    *("expire watches", "lose cluster api answers", "reset", "duplicate messages", "lose messages"),
)
"""Faults that take no time of their own and leave every worker alive: no pod has to wait for its deadline."""


class BriefStack(ClusterStack):
    """Its workers take their pods along in the end; nobody waits for pods to go by themselves before."""

    def at_rest(self) -> list[str]:
        return []


@pytest.mark.campaign
class TestSmallCampaign:
    def test_small_campaign_holds_all_invariants(self) -> None:
        # Clocks need a package that `make chaos` installs, and every pause beyond a lease takes its time.
        slow = () if runs_everything() else ("freeze postgres", "freeze worker", "partition database")
        wanted = [name for name in kinds() if not name.startswith("clock") and name not in slow]
        number = FAULTS * 6 if runs_everything() else FAULTS
        outcome = CampaignOutcome(seed(), number, wanted)
        conduct(CampaignSettings(seed(), work=replace(LOCAL, tasks=TASKS)), outcome, plan(seed(), number, wanted))
        assert [f"after fault {numbers}: {violation}" for numbers, violation in outcome.violations] == [], table(
            outcome
        )
        assert sum(outcome.injected.values()) == number
        assert outcome.counts["episodes scored"] >= 2 * len(TASKS)

    @pytest.mark.skipif(not runs_everything() and seed() % ONE_SEED_IN != 1, reason="needs a minute: one seed in four")
    def test_small_campaign_in_a_cluster_holds_all_invariants(self) -> None:
        needs_qemu()
        number = len(QUICK) if runs_everything() else 3
        wanted = sample(QUICK, number)
        outcome = CampaignOutcome(seed(), number, wanted, flavour=BriefStack.flavour)
        work = replace(CLUSTER, tasks=CLUSTER.tasks[:2], agents=(CLUSTER.best,))
        conduct(CampaignSettings(seed(), work=work, stack=BriefStack), outcome, plan(seed(), number, wanted))
        assert [f"after fault {numbers}: {violation}" for numbers, violation in outcome.violations] == [], table(
            outcome
        )
        assert sum(outcome.injected.values()) == number
        assert outcome.counts["episodes scored"] >= 1
