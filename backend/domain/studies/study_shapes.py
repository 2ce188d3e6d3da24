"""Further results of a study: sensitivity to a factor, and chains versus graphs of subtasks.

Source: OmniBench's experiments; protocols reference, section 6.
"""

import json
import random
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import NamedTuple

from backend.domain.model.measures import in_order
from backend.domain.model.omnibench_labels import complexity
from backend.domain.model.task import JSON
from backend.domain.statistics.paired import Comparison, Pair, compare
from backend.domain.studies.study import StudyConfig

CHAIN, GRAPH = "chain", "graph"


class Values(NamedTuple):
    """One episode that counts: its task, its score and measures by name, the task's further labels."""

    task: str
    values: Mapping[str, float]
    extra: Mapping[str, JSON]


Cells = Sequence[tuple[Mapping[str, JSON], Sequence[Values]]]


class Sensitivity(NamedTuple):
    """Of one factor: the standard deviation over its levels, averaged over tasks.

    Attributes:
        deviations: by score or measure, as (mean of the standard deviations, tasks that have it under every level).
    """

    factor: str
    levels: int
    deviations: Mapping[str, tuple[float, int]]


def sensitivities(study: StudyConfig, cells: Cells) -> list[Sensitivity]:
    """By how much a task's values vary with each factor's levels, the other factors being the same.

    With the expression order of an instruction as the factor this is OmniBench's sensitivity: for each task the sample
    standard deviation of the mean over repeats, over the levels; then the mean over tasks.
    """
    results = []
    for factor in study.compared:
        groups: dict[str, list[Mapping[str, Mapping[str, float]]]] = {}
        for levels, episodes in cells:
            other_levels = json.dumps(
                {name: level for name, level in levels.items() if name != factor.name}, sort_keys=True
            )
            groups.setdefault(other_levels, []).append(_means(episodes))
        complete = [group for group in groups.values() if len(group) == len(factor.levels)]
        deviations = _deviations(complete)
        if deviations:
            results.append(Sensitivity(factor.name, len(factor.levels), deviations))
    return results


def _deviations(groups: Sequence[Sequence[Mapping[str, Mapping[str, float]]]]) -> dict[str, tuple[float, int]]:
    by_name: dict[str, list[float]] = {}
    for group in groups:
        for task in set.intersection(*(set(cell) for cell in group)):
            for name in set.intersection(*(set(cell[task]) for cell in group)):
                by_name.setdefault(name, []).append(stdev(cell[task][name] for cell in group))
    names = [name for name in ("score", *in_order(list(by_name))) if name in by_name]
    return {name: (fmean(by_name[name]), len(by_name[name])) for name in dict.fromkeys(names)}


def _means(episodes: Sequence[Values]) -> dict[str, dict[str, float]]:
    """By task and name, the mean over repeats; a measure that one repeat lacks is left out."""
    by_task: dict[str, list[Mapping[str, float]]] = {}
    for episode in episodes:
        by_task.setdefault(episode.task, []).append(episode.values)
    return {
        task: {
            name: fmean(values[name] for values in all_) for name in all_[0] if all(name in values for values in all_)
        }
        for task, all_ in by_task.items()
    }


class ShapeResult(NamedTuple):
    """Chains against graphs in one cell, over pairs with as many nodes and edges and the same knowledge level.

    Attributes:
        comparisons: by score or measure, graph minus chain.
        unmatched: tasks of either shape without a counterpart.
    """

    levels: Mapping[str, JSON]
    comparisons: Mapping[str, Comparison]
    unmatched: int


def shapes(study: StudyConfig, cells: Cells) -> list[ShapeResult]:
    """Every cell that has chains and graphs which can be paired. Pairs are drawn from the study's seed."""
    results = [_shapes(study, levels, episodes) for levels, episodes in cells]
    return [result for result in results if result.comparisons]


def _shapes(study: StudyConfig, levels: Mapping[str, JSON], episodes: Sequence[Values]) -> ShapeResult:
    kinds = {episode.task: kind for episode in episodes if (kind := shape(episode.extra)) is not None}
    pairs, means = _matched_pairs(kinds, study.base.seed), _means(episodes)
    names = in_order([name for task in kinds for name in means[task]])
    comparisons = {}
    for name in sorted(names, key=lambda name: name != "score"):
        both = [
            Pair(f"{chain} {graph}", means[chain][name], means[graph][name])
            for chain, graph in pairs
            if name in means[chain] and name in means[graph]
        ]
        if both:
            comparisons[name] = compare(both, level=study.level)
    return ShapeResult(levels, comparisons, len(kinds) - 2 * len(pairs))


def shape(extra: Mapping[str, JSON]) -> tuple[str, int, int, str] | None:
    """(chain or graph, nodes, edges, knowledge level) of a composed task; None for any other.

    A chain's subtasks come one after another: no two of them could be done in either order.
    """
    graph, knowledge = extra.get("graph"), complexity(extra).get("knowledge")
    if knowledge is None or not isinstance(graph, dict):
        return None
    width, nodes, edges = (graph.get(name) for name in ("branch", "instruction", "dependency"))
    if not (isinstance(width, int) and isinstance(nodes, int) and isinstance(edges, int)):
        return None
    return (CHAIN if width == 1 else GRAPH), nodes, edges, knowledge


def _matched_pairs(kinds: Mapping[str, tuple[str, int, int, str]], seed: int) -> list[tuple[str, str]]:
    """(chain, graph) pairs within each group of equal counts, drawn at random from the seed."""
    groups: dict[tuple[int, int, str], dict[str, list[str]]] = {}
    for task, (kind, nodes, edges, knowledge) in sorted(kinds.items()):
        groups.setdefault((nodes, edges, knowledge), {CHAIN: [], GRAPH: []})[kind].append(task)
    pairs = []
    for key, both in sorted(groups.items()):
        draw = random.Random(f"{seed}\n{key}")  # noqa: S311 - no secret.
        chains, graphs = (draw.sample(both[kind], len(both[kind])) for kind in (CHAIN, GRAPH))
        pairs += list(zip(chains, graphs, strict=False))
    return pairs
