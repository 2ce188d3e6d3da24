"""Studies as text and flat rows, for pages and tables."""

from collections.abc import Iterator, Mapping
from typing import Any

from backend.domain.statistics import paired
from backend.domain.studies.study import cell_words, level_words
from backend.services.studies.studies import Results

METHODS = (
    "Pairs share task, repeat and seed. Intervals: {level:.0%}, percentile bootstrap over tasks ({resamples} draws, "
    "seed {seed}); where all tasks differ alike, Wilson's bound on tasks of another kind. p-values: two-sided, exact "
    "McNemar test, or sign test over tasks where a task has several pairs; adjusted by Holm over {number} levels."
)


def methods(results: Results) -> str:
    """Methods of the figures, as text."""
    config = results.view.config
    return METHODS.format(
        level=config.level, resamples=config.resamples, seed=config.base.seed, number=len(results.result.levels)
    )


def comparison_rows(results: Results) -> Iterator[dict[str, Any]]:
    """The paired table as flat rows."""
    for level in results.result.levels:
        compared = level.comparison
        row: dict[str, Any] = {
            "factor": level.factor,
            "base": level_words(level.base),
            "level": level_words(level.level),
            "pairs": compared.pairs,
            "tasks": compared.tasks,
        }
        for name, rate in (("success", compared.success), ("score", compared.score)):
            row |= _rate_cells(name, rate)
        row |= {"only_base": compared.only_base, "only_level": compared.only_other, "test": compared.test}
        row |= {"p_value": compared.p_value, "p_adjusted": level.adjusted_p, "excluded": words(level.excluded)}
        yield row


def _rate_cells(name: str, rate: paired.Difference | None) -> dict[str, Any]:
    fields = ("base", "level", "difference", "low", "high", "relative_drop")
    values = (None,) * len(fields) if rate is None else (*rate[:3], *rate.interval, rate.relative_drop)
    return {f"{name}_{field}": value for field, value in zip(fields, values, strict=True)}


def cell_rows(results: Results) -> Iterator[dict[str, Any]]:
    """Every cell with its rates, steps and ways of ending, flat."""
    ways = sorted({way for cell in results.result.cells for way in cell.ended_by})
    for cell, result in zip(results.cells, results.result.cells, strict=True):
        summary, steps = cell.summary, result.steps
        yield {
            "cell": cell_words(cell.levels),
            "run": str(cell.run.id),
            "episodes": summary.episodes,
            "scored": summary.counts.scored,
            "success_rate": summary.success_rate,
            "mean_score": summary.mean_score,
            "steps_median": steps.median if steps else None,
            "steps_mean": steps.mean if steps else None,
            **{f"ended_by_{way}": result.ended_by.get(way, 0) for way in ways},
            "excluded": words(result.excluded),
        }


def step_rows(results: Results) -> Iterator[dict[str, Any]]:
    """Episodes by steps taken: one row per cell and bar."""
    for cell, result in zip(results.cells, results.result.cells, strict=True):
        for bar, number in zip(results.result.bars, result.by_steps, strict=True):
            yield {"cell": cell_words(cell.levels), "from": bar.first, "to": bar.last, "episodes": number}


def measure_rows(results: Results) -> Iterator[dict[str, Any]]:
    """How measures differ, flat: one row per level and measure."""
    for level in results.result.levels:
        known = {"factor": level.factor, "base": level_words(level.base), "level": level_words(level.level)}
        for name, one in level.measures.items():
            counts = {"measure": name, "pairs": one.pairs, "undefined": one.undefined}
            yield {**known, **counts, **_rate_cells("mean", one.difference)}


def sensitivity_rows(results: Results) -> Iterator[dict[str, Any]]:
    """By how much values vary with a factor's levels, flat."""
    for one in results.result.sensitivity:
        for name, (deviation, tasks) in one.deviations.items():
            yield {"factor": one.factor, "levels": one.levels, "of": name, "mean_deviation": deviation, "tasks": tasks}


def shape_rows(results: Results) -> Iterator[dict[str, Any]]:
    """Chains against graphs, flat: one row per cell and score or measure."""
    for one in results.result.shapes:
        for name, compared in one.comparisons.items():
            row: dict[str, Any] = {"cell": cell_words(one.levels), "of": name, "pairs": compared.pairs}
            yield {
                **row,
                "unmatched": one.unmatched,
                "p_value": compared.p_value,
                **_rate_cells("mean", compared.score),
            }


def words(counts: Mapping[str, int]) -> str:
    """`lost (guest) 2, waiting 1`."""
    return ", ".join(f"{reason} {number}" for reason, number in counts.items())
