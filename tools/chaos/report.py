"""Results of a campaign: tables for people, and the page docs/reports/performance-chaos.md."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tools.bench.figures import machine, percentile
from tools.chaos.faults import KINDS
from tools.chaos.invariants import Violation
from tools.chaos.recovery import LIMIT, Uptake

DOCS = Path(__file__).resolve().parents[2] / "docs" / "reports"
PAGES = {"local": "performance-chaos.md", "cluster": "performance-chaos-cluster.md"}
"""By the flavour of the stack."""
HEADS = {"local": "# Chaos campaign", "cluster": "# Chaos campaign in a cluster"}
HEAD = """

Measured by `make chaos`, which breaks the running stack again and again and looks after each fault whether everything
still holds: [chaos](../internals/chaos.md) says what is broken, what must hold and how to repeat it. Nothing here is
estimated.

"""
WRONG = {"same scores", "times", "one verdict", "roll-ups"}
DOUBLE = {"one ending", "one live", "submitted once", "fenced", "stale writes", "numbers"}
LOST = {"all there", "none lost", "none given up", "all ended", "events"}
TAKE_WORKERS = ("kill worker", "freeze worker", "partition database")
MANY_LOST = 10
ORPHANS = {"orphans", "none held", "leases beat", "at rest", "after the end"}


@dataclass
class CampaignOutcome:
    """A campaign's figures.

    Attributes:
        recoveries: seconds from the end of a fault until all was well, by kind.
        injected: faults by kind; `idle`: those of them that found nothing to hit.
        counts: episodes by state, attempts, runs, stale writes tried.
        load: load average at the begin and at the end.
        violations: by the numbers of the volley after which they were seen, once each.
        flavour: of the stack.
        unchecked: volleys after which nothing could be asked.
        unready: volleys that came while too few episodes ran, or some had lost many attempts.
    """

    seed: int
    faults: int
    kinds: Sequence[str]
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    seconds: float = 0.0
    recoveries: dict[str, list[float]] = field(default_factory=dict)
    injected: dict[str, int] = field(default_factory=dict)
    idle: dict[str, int] = field(default_factory=dict)
    losses: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    load: list[float] = field(default_factory=list)
    uptakes: list[Uptake] = field(default_factory=list)
    violations: list[tuple[str, Violation]] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    flavour: str = "local"
    unchecked: list[str] = field(default_factory=list)
    unready: list[str] = field(default_factory=list)

    @property
    def command(self) -> str:
        """The command that starts it."""
        every = [kind.name for kind in KINDS.values() if kind.flavour in {"", self.flavour}]
        words = ["--cluster"] * (self.flavour == "cluster")
        words += [f"--kinds '{','.join(self.kinds)}'"] * (list(self.kinds) != every)
        return f"make chaos SEED={self.seed} FAULTS={self.faults}" + (f' ARGS="{" ".join(words)}"' if words else "")

    @property
    def slow(self) -> list[Uptake]:
        """Episodes taken up too late."""
        return [
            uptake for uptake in self.uptakes if uptake.counts and uptake.seconds is not None and uptake.seconds > LIMIT
        ]

    @property
    def passed(self) -> bool:
        """Whether all invariants held and were checked."""
        return not self.violations and not self.slow and not self.blind

    @property
    def blind(self) -> bool:
        """Whether a long campaign lost workers without measuring any uptake, and so has no result."""
        lost = sum(self.injected.get(name, 0) for name in TAKE_WORKERS)
        return lost >= MANY_LOST and not any(uptake.counts for uptake in self.uptakes)


def totals(outcome: CampaignOutcome) -> Mapping[str, int]:
    """Violations by what they would mean for a user."""
    names = [violation.name for _, violation in outcome.violations]
    groups = {"lost": LOST, "double": DOUBLE, "wrong": WRONG, "orphans": ORPHANS}
    counts = {group: sum(name in known for name in names) for group, known in groups.items()}
    return counts | {"other": len(names) - sum(counts.values())}


def table(outcome: CampaignOutcome) -> str:
    """The whole result as Markdown."""
    counts = totals(outcome)
    load = f"{min(outcome.load):.1f} to {max(outcome.load):.1f}" if outcome.load else "?"
    injected = sum(outcome.injected.values())
    part = "" if injected == outcome.faults else f" (the first {injected} of them)"
    head = (
        f"`{outcome.command}`{part}, {outcome.began:%Y-%m-%d %H:%M} UTC, "
        f"{outcome.seconds / 60:.0f} minutes. Machine: {machine()}; its load average was {load}."
    )
    lines = [
        head,
        "",
        f"**{', '.join(f'{number} {name}' for name, number in counts.items())}**. "
        + ", ".join(f"{number} {name}" for name, number in outcome.counts.items())
        + ".",
        "",
        *_uptake_lines(outcome),
        "",
        "| fault | times | found nothing to hit | well again: p50 | p95 | max |",
        "|---|---|---|---|---|---|",
        *(_row(outcome, name) for name in outcome.kinds if name in outcome.injected),
    ]
    if outcome.losses:
        losses = ", ".join(f"{number} {name}" for name, number in sorted(outcome.losses.items()))
        lines += ["", f"Attempts that were lost and repeated, by failure class: {losses}."]
    if outcome.skipped:
        lines += ["", *(f"Not tried: {name} ({reason})." for name, reason in outcome.skipped.items())]
    if outcome.unchecked:
        lines += ["", f"Nothing could be asked after fault {', '.join(outcome.unchecked)}."]
    if outcome.unready:
        reason = "came while too few episodes ran or one had lost many attempts"
        lines += ["", f"Fault {', '.join(outcome.unready)} {reason}."]
    return "\n".join([*lines, *_violation_lines(outcome)]) + "\n"


def _row(outcome: CampaignOutcome, name: str) -> str:
    values = outcome.recoveries.get(name, [])
    figures = (
        [f"{percentile(values, 0.5):.1f} s", f"{percentile(values, 0.95):.1f} s", f"{max(values):.1f} s"]
        if values
        else ["", "", ""]
    )
    return f"| {name} | {outcome.injected[name]} | {outcome.idle.get(name, 0)} | {' | '.join(figures)} |"


def _uptake_lines(outcome: CampaignOutcome) -> list[str]:
    counted = [uptake.seconds for uptake in outcome.uptakes if uptake.counts and uptake.seconds is not None]
    others = [uptake for uptake in outcome.uptakes if not uptake.counts]
    if not counted:
        failed = " That is too little for so many lost workers: the campaign failed." if outcome.blind else ""
        return [f"No worker was taken away alone while a slot was free elsewhere.{failed}"]
    message = f"p50 {percentile(counted, 0.5):.1f} s, p95 {percentile(counted, 0.95):.1f} s, max {max(counted):.1f} s"
    met = f"missed {len(outcome.slow)} times" if outcome.slow else "met"
    sentence = (
        "From the loss of a worker to the next attempt at its episode, where a slot was free and nothing else was "
        f"broken (aim: {LIMIT:g} s at the default heartbeat, {met}): {message}, {len(counted)} episodes. Beside them "
        f"{len(others)} whose worker was lost together with something else, or with no slot free."
    )
    return [sentence]


def _violation_lines(outcome: CampaignOutcome) -> list[str]:
    if not outcome.violations:
        return []
    lines = ["", "| fault | what did not hold |", "|---|---|"]
    return lines + [f"| {numbers} | {violation} |".replace("\n", " ") for numbers, violation in outcome.violations]


def write(outcome: CampaignOutcome) -> None:
    """Writes the page of the campaign's figures."""
    (DOCS / PAGES[outcome.flavour]).write_text(HEADS[outcome.flavour] + HEAD + table(outcome))


def about() -> str:
    """Every kind of fault with its sentence, as docs/internals/chaos.md has them."""
    return "\n".join(f"| {kind.name} | {kind.about} |" for kind in KINDS.values())


def load_now() -> float:
    """The load average of the last minute."""
    return os.getloadavg()[0]
