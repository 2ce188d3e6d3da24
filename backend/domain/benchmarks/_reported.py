"""Results reported in papers, from `reported_results.csv`: one number per row, digits as printed.

Columns: `suite` (see LoadedBenchmark), `source` (paper and table or section), `agent`, `inputs` (observation and
parsers), `measure`, `group_kind` and `group` (which part of the benchmark, in the paper's words), `value`, `unit`,
`note`. A note that begins with `flag:` marks a number that contradicts another one of its paper.
"""

import csv
from functools import lru_cache
from importlib import resources

from backend.domain.model.task import Frozen

MINIMUM = "minimum_actions"
"""Measure of how many actions an expert needs at least."""
_PARTS = frozenset({"domain", "category"})


class ReportedFigure(Frozen):
    """One published number. `value` is in `unit`: 19.5 percent is 19.5; `printed` has the paper's digits."""

    source: str
    agent: str
    inputs: str
    measure: str
    group_kind: str
    group: str
    value: float
    printed: str
    unit: str
    note: str

    @property
    def domain(self) -> str | None:
        """The domain or group of domains that the number covers; None for any other scope."""
        return self.group if self.group_kind in _PARTS else None


@lru_cache(maxsize=1)
def _all() -> tuple[tuple[str, ReportedFigure], ...]:
    text = resources.files(__package__).joinpath("reported_results.csv").read_text("utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    return tuple((row.pop("suite"), ReportedFigure.model_validate({**row, "printed": row["value"]})) for row in rows)


def published_minimum_steps(suite: str) -> dict[str, float]:
    """Mean of the fewest actions with which a task of a level can be solved, by level; empty if not published."""
    return {row.group: row.value for row in reported_results(suite) if row.measure == MINIMUM}


def reported_results(suite: str) -> list[ReportedFigure]:
    """Reported results of a suite; empty for an unpublished suite."""
    return [row for name, row in _all() if name == suite]
