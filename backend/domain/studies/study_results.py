"""Results of a study: paired comparisons of levels, and distributions of steps and endings per cell."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from backend.domain.model.measures import in_order
from backend.domain.model.task import JSON
from backend.domain.statistics.distributions import Bar, Spread, bars, histogram, spread
from backend.domain.statistics.paired import Comparison, Difference, Pair, compare, holm
from backend.domain.studies.study import StudyConfig, matched_cells
from backend.domain.studies.study_shapes import Sensitivity, ShapeResult, Values, sensitivities, shapes

SCORED = "scored"
_WORDS = {"not_runnable": "not runnable here"}


class CellEpisode(NamedTuple):
    """One episode of a cell.

    Attributes:
        task: its key.
        state: of the episode, `scored` or why it does not count.
        human_assisted: a person helped, so that the score is not the agent's.
        measures: of its verdict, by name; an undefined one is left out.
        extra: further labels of its task.
    """

    task: str
    repeat: int
    state: str
    failure_class: str | None = None
    ended_by: str | None = None
    score: float | None = None
    steps: int = 0
    human_assisted: bool = False
    measures: Mapping[str, float] = MappingProxyType({})
    extra: Mapping[str, JSON] = MappingProxyType({})

    @property
    def why_not(self) -> str:
        """Why it does not count; empty if it does."""
        if self.state == SCORED and self.score is not None:
            return "a person helped" if self.human_assisted else ""
        if self.state == "lost":
            return f"lost ({self.failure_class})"
        return _WORDS.get(self.state, self.state)


class CellResult(NamedTuple):
    """One cell's episodes that count.

    Attributes:
        steps: distribution of steps; None without counted episodes.
        by_steps: number of episodes in each of the study's bins.
        ended_by: how many ended each way.
        excluded: episodes that do not count, by reason.
    """

    levels: Mapping[str, JSON]
    steps: Spread | None
    by_steps: Sequence[int]
    ended_by: Mapping[str, int]
    excluded: Mapping[str, int]


class MeasureDifference(NamedTuple):
    """How a measure differs, over `pairs`; `undefined` counting pairs have it under one level only, or none."""

    difference: Difference
    pairs: int
    undefined: int


class LevelResult(NamedTuple):
    """One level against the first one of its factor.

    Attributes:
        comparison: level minus base level, over the pairs of which both episodes count.
        adjusted_p: by Holm over all levels of the study; None without a pair.
        excluded: excluded pairs by reason; with `base: ` if the base level's episode is the reason.
        measures: how each measure differs, over the pairs that count and have it under both levels.
    """

    factor: str
    base: JSON
    level: JSON
    comparison: Comparison
    adjusted_p: float | None
    excluded: Mapping[str, int]
    measures: Mapping[str, MeasureDifference] = MappingProxyType({})


class StudyResult(NamedTuple):
    """Results of a study. Equal episodes give equal numbers.

    Attributes:
        sensitivity: of each factor, by how much a task's score and measures vary with its levels.
        shapes: of each cell with both, chains against graphs.
    """

    cells: Sequence[CellResult]
    levels: Sequence[LevelResult]
    bars: Sequence[Bar]
    sensitivity: Sequence[Sensitivity] = ()
    shapes: Sequence[ShapeResult] = ()


def study_result(
    study: StudyConfig, outcomes: Sequence[tuple[Mapping[str, JSON], Sequence[CellEpisode]]]
) -> StudyResult:
    """The result of a study from its cells: levels and episodes of each, in any order of episodes."""
    highest = max((fact.steps for _, facts in outcomes for fact in facts if not fact.why_not), default=0)
    into = bars(highest)
    cells = [_cell(levels, facts, into) for levels, facts in outcomes]
    values = [(levels, [_values(fact) for fact in facts if not fact.why_not]) for levels, facts in outcomes]
    return StudyResult(cells, _levels(study, outcomes), into, sensitivities(study, values), shapes(study, values))


def _values(fact: CellEpisode) -> Values:
    return Values(fact.task, {**fact.measures, "score": fact.score or 0.0}, fact.extra)


def _cell(levels: Mapping[str, JSON], facts: Sequence[CellEpisode], into: Sequence[Bar]) -> CellResult:
    steps = [fact.steps for fact in facts if not fact.why_not]
    return CellResult(
        levels=levels,
        steps=spread(steps),
        by_steps=histogram(steps, into),
        ended_by=_counts(fact.ended_by or "unknown" for fact in facts if not fact.why_not),
        excluded=_counts(fact.why_not for fact in facts if fact.why_not),
    )


def _counts(words: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(words).items()))


def _levels(
    study: StudyConfig, outcomes: Sequence[tuple[Mapping[str, JSON], Sequence[CellEpisode]]]
) -> list[LevelResult]:
    by_key = [{(fact.task, fact.repeat): fact for fact in facts} for _, facts in outcomes]
    results = []
    for factor in study.compared:
        for level in factor.levels[1:]:
            sides = matched_cells([levels for levels, _ in outcomes], factor.name, level, factor.levels[0])
            both, excluded = _pairs([(by_key[base_key], by_key[other_key]) for base_key, other_key in sides])
            pairs = [
                Pair(base_result.task, base_result.score or 0.0, other_result.score or 0.0)
                for base_result, other_result in both
            ]
            comparison = compare(pairs, level=study.level)
            measures = _measures(study, both)
            results.append(LevelResult(factor.name, factor.levels[0], level, comparison, None, excluded, measures))
    return _adjust_p_values(results)


def _measures(study: StudyConfig, both: Sequence[tuple[CellEpisode, CellEpisode]]) -> dict[str, MeasureDifference]:
    """Paired difference of each measure."""
    names = in_order([name for facts in both for fact in facts for name in fact.measures if name != "score"])
    differences = {}
    for name in names:
        pairs = [
            Pair(base_result.task, base_result.measures[name], other_result.measures[name])
            for base_result, other_result in both
            if name in base_result.measures and name in other_result.measures
        ]
        difference = compare(pairs, level=study.level).score
        if difference is not None:
            differences[name] = MeasureDifference(difference, len(pairs), len(both) - len(pairs))
    return differences


Side = Mapping[tuple[str, int], CellEpisode]


def _pairs(sides: Sequence[tuple[Side, Side]]) -> tuple[list[tuple[CellEpisode, CellEpisode]], dict[str, int]]:
    """The pairs that count, and those that do not, by reason."""
    pairs: list[tuple[CellEpisode, CellEpisode]] = []
    excluded: list[str] = []
    for base, other in sides:
        for key in base.keys() | other.keys():
            base_result, other_result = base.get(key, _absent(key)), other.get(key, _absent(key))
            if base_result.why_not or other_result.why_not:
                excluded.append(f"base: {base_result.why_not}" if base_result.why_not else other_result.why_not)
            else:
                pairs.append((base_result, other_result))
    return pairs, _counts(excluded)


def _absent(key: tuple[str, int]) -> CellEpisode:
    return CellEpisode(*key, state="no such episode")


def _adjust_p_values(results: Sequence[LevelResult]) -> list[LevelResult]:
    tested = [at for at, result in enumerate(results) if result.comparison.p_value is not None]
    values = holm([results[at].comparison.p_value or 0.0 for at in tested])
    adjusted = dict(zip(tested, values, strict=True))
    return [result._replace(adjusted_p=adjusted.get(at)) for at, result in enumerate(results)]
