"""Number of selected trajectories, and what is left out."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Benchmark
from backend.db.repositories.export import training_data as repository
from backend.db.repositories.export.training_data import NOT_MATCHING, EpisodeGroup, Scope
from backend.domain.model.benchmark_licence import LicenceStatus, licence_status
from backend.domain.model.export_request import Filters
from backend.domain.model.trajectory_export import AttemptResult


@dataclass(frozen=True)
class LicenceNote:
    """What is known about the licence of a benchmark."""

    benchmark: str
    licence: str
    status: LicenceStatus
    source: str

    @property
    def words(self) -> str:
        """What users of the training data must know; empty for an open licence."""
        if self.status is LicenceStatus.OPEN:
            return ""
        if self.status is LicenceStatus.UNKNOWN:
            detail = f"{self.licence!r} is none that we know" if self.licence else "none is given"
            return f"{self.benchmark}: the licence is unknown ({detail}). Ask its authors before you train on it."
        return f"{self.benchmark}: the licence {self.licence!r} forbids some uses. Read it before you train on it."


@dataclass(frozen=True)
class ExportCounts:
    """Counts of an export.

    Attributes:
        trajectories, steps: exported ones.
        results, kinds, benchmarks: number of exported trajectories by each.
        excluded: selected episodes that are not exported, by reason.
        not_matching: scored episodes with an outcome that was not selected.
        licences: of the exported trajectories' benchmarks.
    """

    trajectories: int
    steps: int
    results: Mapping[str, int]
    kinds: Mapping[str, int]
    benchmarks: Mapping[str, int]
    excluded: Mapping[str, int]
    not_matching: int
    licences: Sequence[LicenceNote]


def scope_of(session: Session, project_id: UUID, filters: Filters) -> Scope:
    """Filters, resolved for this installation."""
    rows = repository.benchmarks(session, project_id) if filters.open_licence else []
    closed = [row.id for row in rows if licence_status(row.licence) is not LicenceStatus.OPEN]
    return Scope(project_id, filters, closed)


def note_of(benchmark: Benchmark) -> LicenceNote:
    """What is known about a benchmark's licence."""
    return LicenceNote(benchmark.name, benchmark.licence, licence_status(benchmark.licence), benchmark.source)


def count(session: Session, project_id: UUID, filters: Filters) -> ExportCounts:
    """Counts of an export with these filters."""
    groups = repository.groups(session, scope_of(session, project_id, filters))
    usable = [group for group in groups if not group.reason]
    by_result = _sums((str(group.result), group) for group in usable)
    known = {row.id: row for row in repository.benchmarks(session, project_id)}
    used = [row for row in known.values() if row.id in {group.benchmark_id for group in usable}]
    return ExportCounts(
        trajectories=sum(group.episodes for group in usable),
        steps=sum(group.steps for group in usable),
        results={result.value: number for result in AttemptResult if (number := by_result.get(result.value))},
        kinds=_sums((group.kind, group) for group in usable),
        benchmarks=_sums((known[group.benchmark_id].name, group) for group in usable),
        excluded=_sums((group.reason, group) for group in groups if group.reason not in {"", NOT_MATCHING}),
        not_matching=sum(group.episodes for group in groups if group.reason == NOT_MATCHING),
        licences=[note_of(row) for row in used],
    )


def _sums(pairs: Iterable[tuple[str, EpisodeGroup]]) -> dict[str, int]:
    sums: Counter[str] = Counter()
    for name, group in pairs:
        sums[name] += group.episodes
    return dict(sorted(sums.items()))
