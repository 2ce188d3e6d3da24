"""What suites publish: selections, variants, reported results, unsupported parts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import PublishedResult
from backend.db.repositories.benchmarks import benchmark_parts as repository
from backend.db.repositories.benchmarks import tasks as task_repository
from backend.db.repositories.results import leaderboards as leaderboard_repository
from backend.domain.benchmarks import TaskChange, TaskLintFinding, differences, external_assets, findings
from backend.domain.model.task import Task
from backend.domain.registry import load as load_plugins
from backend.services.benchmarks.benchmarks import get_benchmark
from backend.services.benchmarks.lint import unknown_of
from backend.services.benchmarks.variants import known_variants
from backend.services.benchmarks.versions import task_set_named

RATE = "success_rate"
_WORDS = {
    "id": "Id in the file",
    "group": "Group in the paper",
    "rating": "Rated by people, 1 to 3",
    "twin": "Same task elsewhere",
    "network": "Needs of the network",
    "proxy": "Proxy",
    "fixed_ip": "Fixed address",
    "drift": "May the world change",
    "context": "Context",
    "snapshot": "Snapshot",
    "source": "Source",
}


@dataclass(frozen=True)
class ReportedResults:
    """Published results: rates of the whole benchmark first, the rest by source table."""

    rates: list[PublishedResult]
    others: Mapping[str, list[PublishedResult]]

    @property
    def total(self) -> int:
        return len(self.rates) + sum(map(len, self.others.values()))


@dataclass(frozen=True)
class SuiteParts:
    """Parts of a task set besides its tasks."""

    selections: Mapping[str, int]
    variants: Mapping[str, int]
    unknown: tuple[str, ...]
    infeasible: int
    reported: ReportedResults


def suite_parts(session: Session, name: str, version: int) -> SuiteParts:
    """The parts of one version of a benchmark."""
    task_set = task_set_named(session, f"{name}@{version}")
    return SuiteParts(
        selections={name: len(keys) for name, keys in repository.selections(session, task_set.id).items()},
        variants=known_variants(session, task_set.id),
        unknown=unknown_of(session, task_set),
        infeasible=int(task_set.counts.get("infeasible", 0)),
        reported=reported(leaderboard_repository.reported(session, get_benchmark(session, name).id)),
    )


def reported(rows: list[PublishedResult]) -> ReportedResults:
    """Rates of whole benchmarks, best first, and the rest by source."""
    rates = [row for row in rows if row.measure == RATE and row.group_kind == "overall"]
    others: dict[str, list[PublishedResult]] = {}
    for row in rows:
        if row not in rates:
            others.setdefault(row.source, []).append(row)
    return ReportedResults(sorted(rates, key=lambda row: (-row.value, row.agent)), dict(sorted(others.items())))


def amount(row: PublishedResult) -> str:
    """A published figure with its unit, with the printed digits if ours have as many."""
    unit = {"percent": " %", "percentage points": " points"}.get(row.unit, f" {row.unit}" if row.unit else "")
    return f"{row.value:g}{unit}"


@dataclass(frozen=True)
class TaskParts:
    """Information about a task besides how it runs.

    Attributes:
        facts: labels as text.
        twin: key of the same task on another system.
        assets: addresses of web files that it needs.
        variants: changes by each variant; None if none.
        findings: problems found by lint.
    """

    facts: list[tuple[str, str]]
    assets: tuple[str, ...]
    variants: Mapping[str, TaskChange | None]
    findings: list[TaskLintFinding]
    strict_upstream: bool


def task_parts(session: Session, task_id: UUID) -> TaskParts | None:
    """Information about a task; None if it does not exist."""
    row = task_repository.get(session, task_id)
    if row is None:
        return None
    load_plugins()
    task = Task.model_validate(row.spec)
    return TaskParts(
        facts=_facts(task, row.human_seconds, row.human_steps),
        assets=external_assets(task),
        variants={
            f"{item.axis}={item.value}": next(iter(differences({"": task}, {"": Task.model_validate(item.spec)})), None)
            for item in repository.variants_of(session, [task_id])
        },
        findings=findings(task),
        strict_upstream=task.evaluator.strict_upstream,
    )


def _facts(task: Task, seconds: float | None, steps: int | None) -> list[tuple[str, str]]:
    extra = task.labels.extra
    facts = [(words, _to_text(extra[name])) for name, words in _WORDS.items() if name in extra]
    times = (("A person's time", seconds, " s"), ("A person's steps", steps, ""))
    return facts + [(words, f"{value:g}{unit}") for words, value, unit in times if value is not None]


def _to_text(value: Any) -> str:
    if isinstance(value, bool):
        return "needed" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
