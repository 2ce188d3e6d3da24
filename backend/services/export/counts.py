"""How much there is of what is asked for, and what is left out of it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Benchmark
from backend.db.repositories.export import training_data as repository
from backend.db.repositories.export.training_data import NOT_ASKED, EpisodeGroup, Scope
from backend.domain.model.benchmark_licence import LicenceStatus, licence_status
from backend.domain.model.export_request import Filters
from backend.domain.model.trajectory_export import AttemptResult


@dataclass(frozen=True)
class LicenceNote:
    """What is known of the licence of a benchmark that trajectories come from."""

    benchmark: str
    licence: str
    status: LicenceStatus
    source: str

    @property
    def words(self) -> str:
        """What somebody who trains on it has to know; empty for an open licence."""
        if self.status is LicenceStatus.OPEN:
            return ""
        if self.status is LicenceStatus.UNKNOWN:
            detail = f"{self.licence!r} is none that we know" if self.licence else "none is given"
            return f"{self.benchmark}: the licence is unknown ({detail}). Ask its authors before you train on it."
        return f"{self.benchmark}: the licence {self.licence!r} forbids some uses. Read it before you train on it."


@dataclass(frozen=True)
class ExportCounts:
    """What an export comes to.

    Attributes:
        trajectories, steps: that are given away.
        results, kinds, benchmarks: of those, how many trajectories.
        left_out: episodes that were asked for and are not given away, by reason.
        not_asked: scored episodes whose outcome was not asked for.
        licences: of the benchmarks that trajectories come from.
    """

    trajectories: int
    steps: int
    results: Mapping[str, int]
    kinds: Mapping[str, int]
    benchmarks: Mapping[str, int]
    left_out: Mapping[str, int]
    not_asked: int
    licences: Sequence[LicenceNote]


def scope_of(session: Session, project_id: UUID, filters: Filters) -> Scope:
    """The filters with what they mean in this installation."""
    rows = repository.benchmarks(session, project_id) if filters.open_licence else []
    closed = [row.id for row in rows if licence_status(row.licence) is not LicenceStatus.OPEN]
    return Scope(project_id, filters, closed)


def note_of(benchmark: Benchmark) -> LicenceNote:
    """What is known of a benchmark's licence."""
    return LicenceNote(benchmark.name, benchmark.licence, licence_status(benchmark.licence), benchmark.source)


def count(session: Session, project_id: UUID, filters: Filters) -> ExportCounts:
    """How much an export with these filters would give."""
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
        left_out=_sums((group.reason, group) for group in groups if group.reason not in {"", NOT_ASKED}),
        not_asked=sum(group.episodes for group in groups if group.reason == NOT_ASKED),
        licences=[note_of(row) for row in used],
    )


def _sums(pairs: Iterable[tuple[str, EpisodeGroup]]) -> dict[str, int]:
    sums: Counter[str] = Counter()
    for name, group in pairs:
        sums[name] += group.episodes
    return dict(sorted(sums.items()))
