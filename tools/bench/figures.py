"""Measured figures and the page that shows them."""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reports" / "performance.md"
HEAD = """# Performance

Measured by `make bench-loop`, which runs real episodes on the local provider, writes this page and prints its table;
nothing here is estimated. The database waits for the disk as it does in use, desktops are 1920x1080. How fast a
leaderboard over 36,000 tasks is: [performance of leaderboards](performance-leaderboard.md).

"""


@dataclass(frozen=True)
class Figure:
    """One measured thing.

    Attributes:
        what: description.
        aim: what it should be, with which percentile; empty where nothing was promised.
        unit: `ms`, `s`, `times` or `%`.
        values: one per sample, in that unit.
        percentile: the percentile of the target; None if every sample counts.
        met: whether the aim is met; None without an aim.
    """

    what: str
    aim: str
    unit: str
    values: tuple[float, ...]
    met: bool | None = None

    def row(self) -> str:
        """One line of the table."""
        aim = f"{self.aim} ({'met' if self.met else 'missed'})" if self.met is not None else self.aim
        half, most = (f"{percentile(self.values, share):.{self._digits()}f} {self.unit}" for share in (0.5, 0.95))
        return f"| {self.what} | {aim} | {half} | {most if len(self.values) > 1 else ''} | {len(self.values)} |"

    def _digits(self) -> int:
        return 2 if self.unit in {"s", "times"} else 0


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest sample that at least this share of all samples does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * round(share * 100) // 100) - 1)]


def page(figures: Sequence[Figure], load: float, head: str = HEAD) -> str:
    lines = [
        measured_on(load),
        "",
        "| what | aim | p50 | p95 | n |",
        "|---|---|---|---|---|",
        *(figure.row() for figure in figures),
    ]
    return head + "\n".join(lines) + "\n"


def measured_on(load: float) -> str:
    """The sentence about machine, time and load."""
    return (
        f"Machine: {machine()}. Measured {datetime.now(UTC):%Y-%m-%d %H:%M} UTC; the load average when it began was "
        f"{load:.1f}{', work of others on the machine, which slows everything here' if load > 1 else ''}."
    )


def machine() -> str:
    """Processor, cores, memory."""
    cpu = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        platform.machine(),
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{cpu}, {os.cpu_count()} cores, {memory:.0f} GiB"
