"""Counts of selected and excluded trajectories."""

from collections import Counter
from collections.abc import Iterable
from uuid import UUID

from pydantic import Field, computed_field
from sqlalchemy.orm import Session

from backend.db.models import Benchmark
from backend.db.repositories.export import training_data as repository
from backend.db.repositories.export.training_data import NOT_MATCHING, EpisodeGroup, Scope
from backend.domain.model.benchmark_licence import LicenceStatus, licence_status
from backend.domain.model.export_request import Filters
from backend.domain.model.trajectory_export import AttemptResult
from backend.services.read_model import ReadModel


class LicenceNote(ReadModel):
    """Note on the licence of a benchmark."""

    benchmark: str
    licence: str
    status: LicenceStatus
    source: str

    @computed_field  # type: ignore[prop-decorator]
    @property
    def note(self) -> str:
        """Note on licences for people who train on it; empty for an open licence."""
        if self.status is LicenceStatus.OPEN:
            return ""
        if self.status is LicenceStatus.UNKNOWN:
            detail = f"{self.licence!r} is not a known licence" if self.licence else "no licence is given"
            return f"{self.benchmark}: the licence is unknown ({detail}). Ask its authors before you train on it."
        return f"{self.benchmark}: the licence {self.licence!r} forbids some uses. Read it before you train on it."


class TrajectoryCounts(ReadModel):
    """Current counts of an export with these filters."""

    trajectories: int
    steps: int
    results: dict[str, int]
    kinds: dict[str, int]
    benchmarks: dict[str, int]
    excluded: dict[str, int] = Field(description="episodes that were asked for and are not given away, by reason")
    not_matching: int = Field(description="scored episodes whose outcome was not asked for")
    licences: list[LicenceNote]


def scope_of(session: Session, project_id: UUID, filters: Filters) -> Scope:
    """Filters, resolved for this installation."""
    rows = repository.benchmarks(session, project_id) if filters.open_licence else []
    closed = [row.id for row in rows if licence_status(row.licence) is not LicenceStatus.OPEN]
    return Scope(project_id, filters, closed)


def note_of(benchmark: Benchmark) -> LicenceNote:
    """The note on a benchmark's licence."""
    return LicenceNote(
        benchmark=benchmark.name,
        licence=benchmark.licence,
        status=licence_status(benchmark.licence),
        source=benchmark.source,
    )


def count(session: Session, project_id: UUID, filters: Filters) -> TrajectoryCounts:
    """Counts of an export with these filters."""
    groups = repository.groups(session, scope_of(session, project_id, filters))
    usable = [group for group in groups if not group.reason]
    by_result = _sums((str(group.result), group) for group in usable)
    benchmarks = {row.id: row for row in repository.benchmarks(session, project_id)}
    used = [row for row in benchmarks.values() if row.id in {group.benchmark_id for group in usable}]
    return TrajectoryCounts(
        trajectories=sum(group.episodes for group in usable),
        steps=sum(group.steps for group in usable),
        results={result.value: number for result in AttemptResult if (number := by_result.get(result.value))},
        kinds=_sums((group.kind, group) for group in usable),
        benchmarks=_sums((benchmarks[group.benchmark_id].name, group) for group in usable),
        excluded=_sums((group.reason, group) for group in groups if group.reason not in {"", NOT_MATCHING}),
        not_matching=sum(group.episodes for group in groups if group.reason == NOT_MATCHING),
        licences=[note_of(row) for row in used],
    )


def _sums(pairs: Iterable[tuple[str, EpisodeGroup]]) -> dict[str, int]:
    sums: Counter[str] = Counter()
    for name, group in pairs:
        sums[name] += group.episodes
    return dict(sorted(sums.items()))
