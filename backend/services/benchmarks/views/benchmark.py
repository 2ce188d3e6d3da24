"""Views of a benchmark and its published results."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.models import Benchmark, PublishedResult, TaskSet
from backend.db.repositories.benchmarks import benchmark_parts
from backend.db.repositories.results import leaderboards as leaderboard_repository
from backend.services.benchmarks.benchmarks import get_benchmark, list_task_sets
from backend.services.benchmarks.labels import LabelCounts, label_counts
from backend.services.benchmarks.lint import unknown_of
from backend.services.benchmarks.variants import known_variants
from backend.services.read_model import ReadModel

RATE = "success_rate"


class TaskSetRef(ReadModel):
    """One version of a benchmark."""

    id: UUID
    version: int = Field(examples=[1])
    content_hash: str = Field(description="sha256 of all tasks and assets.")


class BenchmarkView(ReadModel):
    """A named collection of tasks, at its newest version."""

    id: UUID
    name: str = Field(examples=["starter"])
    title: str = ""
    kind: str = Field(examples=["starter"])
    licence: str = ""
    source: str = ""
    task_set: TaskSetRef | None = None
    versions: int = Field(default=1, description="How many task sets there are.")
    tasks: int = Field(default=0, examples=[24])
    infeasible: int = Field(default=0, description="Tasks whose only correct answer is that they cannot be done.")
    domains: dict[str, int] = Field(default={}, examples=[{"files": 5}])
    difficulties: dict[str, int] = Field(default={}, examples=[{"easy": 9, "unlabelled": 1}])
    levels: dict[str, int] = Field(default={}, examples=[{"L1": 8, "L2": 2}])
    disciplines: dict[str, int] = Field(default={}, examples=[{"Science": 4}])
    warnings: list[str] = Field(default=[])


class BenchmarkDetail(BenchmarkView):
    """A benchmark with the selections and variants of its version."""

    selections: dict[str, int] = Field(
        default={},
        description="Tasks of each named selection; a run takes one as `@name`.",
        examples=[{"test_small": 6}],
    )
    variants: dict[str, int] = Field(default={}, description="Tasks of each variant.", examples=[{"context=none": 154}])
    labels: LabelCounts = Field(
        default={},
        description=(
            "Labels by which its tasks differ, with the number of tasks by value. A run selects them by `where`."
        ),
        examples=[{"level": {"L1": 30, "L2": 12}}],
    )
    unknown: list[str] = Field(
        default=[],
        description="Set-up steps, getters, metrics and parameters of tasks that this release does not know.",
    )


class ImportResult(ReadModel):
    """Result of an import. `created` is false if the same files were imported before."""

    benchmark: BenchmarkDetail
    created: bool
    warnings: list[str] = Field(default=[])


class LabelResult(ReadModel):
    """Result of an import of labels."""

    rows: int
    tasks: int = Field(description="Tasks of all versions whose labels changed.")


class PublishedResultView(ReadModel):
    """A published result, not measured here."""

    source: str = Field(examples=["OSWorld paper, Table 5"])
    agent: str
    observation: str = ""
    measure: str = Field(examples=["success_rate"])
    group_kind: str = Field(default="", examples=["overall"])
    group: str = ""
    value: float = Field(description="As printed, in `unit`.")
    unit: str = Field(default="", examples=["percent"])
    note: str = ""


def benchmark_view(row: Benchmark, task_set: TaskSet | None, versions: int) -> BenchmarkView:
    """A benchmark at one version; None: it has no version yet."""
    return BenchmarkView(**_fields(row, task_set, versions))


def benchmark_detail(session: Session, row: Benchmark, task_set: TaskSet | None, versions: int) -> BenchmarkDetail:
    """A benchmark at one version, with selections, variants and unsupported parts."""
    fields = _fields(row, task_set, versions)
    if task_set is None:
        return BenchmarkDetail(**fields)
    return BenchmarkDetail(
        **fields,
        selections=benchmark_parts.selection_sizes(session, task_set.id),
        variants=known_variants(session, task_set.id),
        labels=label_counts(task_set),
        unknown=list(unknown_of(session, task_set)),
    )


def newest_detail(session: Session, row: Benchmark) -> BenchmarkDetail:
    """A benchmark at its newest version."""
    versions = list_task_sets(session, row.name)
    return benchmark_detail(session, row, versions[0] if versions else None, len(versions))


def _fields(row: Benchmark, task_set: TaskSet | None, versions: int) -> Mapping[str, Any]:
    counts = task_set.counts if task_set else {}
    return {
        "id": row.id,
        "name": row.name,
        "title": row.title,
        "kind": row.kind,
        "licence": row.licence,
        "source": row.source,
        "task_set": task_set and TaskSetRef.model_validate(task_set),
        "versions": versions,
        "tasks": int(counts.get("tasks", 0)),
        "infeasible": int(counts.get("infeasible", 0)),
        "domains": counts.get("domains", {}),
        "difficulties": counts.get("difficulties", {}),
        "levels": counts.get("levels", {}),
        "disciplines": counts.get("disciplines", {}),
        "warnings": [str(warning) for warning in task_set.warnings] if task_set else [],
    }


def reported_results(session: Session, name: str) -> list[PublishedResultView]:
    """Published results of a benchmark. Raises NotFound."""
    rows = leaderboard_repository.published_results(session, get_benchmark(session, name).id)
    return [reported_result(row) for row in rows]


def reported_result(row: PublishedResult) -> PublishedResultView:
    """A published number."""
    return PublishedResultView(
        source=row.source,
        agent=row.agent,
        observation=row.observation,
        measure=row.measure,
        group_kind=row.group_kind,
        group=row.group_name,
        value=row.value,
        unit=row.unit,
        note=row.note,
    )


@dataclass(frozen=True)
class PublishedResults:
    """Published results: rates of the whole benchmark first, the rest by source table."""

    rates: list[PublishedResultView]
    others: Mapping[str, list[PublishedResultView]]

    @property
    def total(self) -> int:
        """All numbers."""
        return len(self.rates) + sum(map(len, self.others.values()))


def by_source(rows: list[PublishedResultView]) -> PublishedResults:
    """Rates of whole benchmarks, best first, and the rest by source."""
    rates = [row for row in rows if row.measure == RATE and row.group_kind == "overall"]
    others: dict[str, list[PublishedResultView]] = {}
    for row in rows:
        if row not in rates:
            others.setdefault(row.source, []).append(row)
    return PublishedResults(sorted(rates, key=lambda row: (-row.value, row.agent)), dict(sorted(others.items())))
