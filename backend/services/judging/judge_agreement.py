"""Agreement of a judge with people who did not see its verdicts."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Judge
from backend.db.models.enums import JudgeKind
from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.judging import reviews as repository
from backend.domain.statistics.agreement import (
    Confusion,
    alpha_interval,
    confusion,
    kappa_interval,
    krippendorffs_alpha,
)
from backend.domain.statistics.correlation import pearson, pearson_interval
from backend.domain.statistics.intervals import Interval
from backend.services.judging.reviews import PEOPLE

NO_LEVEL = "no level"


@dataclass(frozen=True)
class Level:
    """Agreement on the tasks of one level, or on all."""

    name: str
    counts: Confusion
    interval: Interval | None


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha, nominal; `n`: criteria with at least two verdicts."""

    value: float | None
    interval: Interval | None
    n: int


@dataclass(frozen=True)
class MeasureCorrelation:
    """Pearson's r of people's ratings and a measure, over n attempts with enough ratings."""

    measure: str
    rating: str
    r: float | None
    interval: Interval | None
    n: int


@dataclass(frozen=True)
class Disagreement:
    """A criterion on which a person disagrees with the judge."""

    episode_id: UUID
    task: str
    criterion: str
    judge: bool
    person: str


@dataclass(frozen=True)
class JudgeAgreement:
    """People's checks of a judge.

    Attributes:
        attempts: number of attempts judged by people.
        unsure: people's "cannot tell" answers, which are not counted.
        whole, levels: judge versus people; each person's verdict is one pair.
        people: among people; `everybody`: with the judge as one more.
        correlations: for a graph evaluator.
        disagreements: cases to inspect.
    """

    attempts: int
    unsure: int
    whole: Level
    levels: list[Level]
    people: Alpha
    everybody: Alpha
    correlations: list[MeasureCorrelation]
    disagreements: list[Disagreement]


def agreement_of(session: Session, judge: Judge) -> JudgeAgreement:
    """All agreement statistics of a judge. Intervals resample whole attempts, because their criteria are correlated."""
    rows = repository.compared_verdicts(session, judge.id) if judge.kind == JudgeKind.VLM else []
    sure = [row for row in rows if row.reached is not None]
    by_level: defaultdict[str, list[AnyRow]] = defaultdict(list)
    for row in sure:
        by_level[row.level or NO_LEVEL].append(row)
    rated = repository.rated_items(session, judge.id) if judge.kind == JudgeKind.GRAPH else []
    return JudgeAgreement(
        attempts=len({row.attempt_id for row in (*rows, *rated)}),
        unsure=len(rows) - len(sure),
        whole=_level("all", sure),
        levels=[_level(name, by_level[name]) for name in sorted(by_level)],
        people=_alpha(sure, with_judge=False),
        everybody=_alpha(sure, with_judge=True),
        correlations=_correlations(rated),
        disagreements=[
            Disagreement(row.episode_id, row.task, row.criterion, row.judge, row.person)
            for row in sure
            if row.judge != row.reached
        ],
    )


def _level(name: str, rows: Sequence[AnyRow]) -> Level:
    clusters = [confusion([(row.judge, row.reached) for row in group]) for group in _by_attempt(rows).values()]
    return Level(name, confusion([(row.judge, row.reached) for row in rows]), kappa_interval(clusters))


def _by_attempt(rows: Iterable[AnyRow]) -> Mapping[UUID, list[AnyRow]]:
    by_attempt: defaultdict[UUID, list[AnyRow]] = defaultdict(list)
    for row in rows:
        by_attempt[row.attempt_id].append(row)
    return by_attempt


def _alpha(rows: Sequence[AnyRow], *, with_judge: bool) -> Alpha:
    clusters = [_units(group, with_judge=with_judge) for group in _by_attempt(rows).values()]
    units = [unit for cluster in clusters for unit in cluster if len(unit) > 1]
    return Alpha(krippendorffs_alpha(units), alpha_interval(clusters), len(units))


def _units(rows: Sequence[AnyRow], *, with_judge: bool) -> list[list[bool]]:
    """Verdicts by criterion of an attempt."""
    units: dict[str, list[bool]] = {}
    for row in rows:
        units.setdefault(row.criterion, [row.judge] if with_judge else []).append(row.reached)
    return list(units.values())


def _correlations(rows: Sequence[AnyRow]) -> list[MeasureCorrelation]:
    if not rows:
        return []
    groups = [group for group in _by_attempt(rows).values() if len(group) >= PEOPLE]
    return [_correlation(groups, "CR", "completion"), _correlation(groups, "LC", "logic")]


def _correlation(groups: Sequence[Sequence[AnyRow]], measure: str, rating: str) -> MeasureCorrelation:
    """Mean of people's ratings versus the measure, where defined."""
    pairs = [
        (float(value), fmean(getattr(row, rating) / 100 for row in group))
        for group in groups
        if (value := getattr(group[0], measure)) is not None
    ]
    r = pearson([value for value, _ in pairs], [mean for _, mean in pairs])
    return MeasureCorrelation(measure, rating, r, None if r is None else pearson_interval(r, len(pairs)), len(pairs))
