"""Results of offline evaluation: means of the metrics of steps, with demonstrations as clusters."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from backend.domain.model.demonstration import SetForm
from backend.domain.statistics.intervals import LEVEL, Interval, cluster_mean_of_columns, wilson
from backend.domain.studies.offline_scores import StepScore


class OfflineProtocol(StrEnum):
    """Protocols whose metrics can be shown."""

    MIND2WEB = "mind2web"
    ANDROID_CONTROL = "android_control"
    OMNIACT = "omniact"


def protocol_of(form: SetForm) -> OfflineProtocol:
    """The set's own metrics; for sets of no published form those of AndroidControl, which need no elements."""
    protocols = {SetForm.MIND2WEB: OfflineProtocol.MIND2WEB, SetForm.OMNIACT: OfflineProtocol.OMNIACT}
    return protocols.get(form, OfflineProtocol.ANDROID_CONTROL)


class ScoredStep(NamedTuple):
    """An answered or unanswered step.

    Attributes:
        demonstration: whose step it is.
        score: None if there is no answer, which is not the agent's fault.
        group: what a table is divided by.
    """

    demonstration: Hashable
    score: StepScore | None
    group: str = ""


class MetricResult(NamedTuple):
    """A mean.

    Attributes:
        name: `element_accuracy`, ...
        value: None if no step has the metric.
        interval: of it, demonstrations as clusters.
        n: steps, or demonstrations for `task_success`, that have the metric.
    """

    name: str
    value: float | None
    interval: Interval | None
    n: int


Share = tuple[float, float] | None
"""(what is reached, what can be) of a step; None if the metric is not defined for it."""


def _share(value: bool | float | None) -> Share:  # noqa: FBT001 - what the metric says of a step
    return None if value is None else (float(value), 1.0)


_STEPS: Mapping[OfflineProtocol, Mapping[str, Callable[[StepScore], Share]]] = {
    OfflineProtocol.MIND2WEB: {
        "element_accuracy": lambda score: _share(score.element),
        "operation_f1": lambda score: _share(score.operation_f1),
        "step_success": lambda score: _share(score.web_success),
    },
    OfflineProtocol.ANDROID_CONTROL: {
        "type_match": lambda score: _share(score.type_match),
        "grounding_accuracy": lambda score: _share(score.grounding),
        "step_success": lambda score: _share(score.step_success),
    },
    OfflineProtocol.OMNIACT: {
        "sequence_score": lambda score: (score.sequence, score.sequence_most) if score.sequence_most else None,
        "action_score": lambda score: (score.action_score, score.sequence_most) if score.sequence_most else None,
    },
}
TITLES = {
    "element_accuracy": "Element accuracy",
    "operation_f1": "Operation F1",
    "step_success": "Step success",
    "task_success": "Task success",
    "type_match": "Action type",
    "grounding_accuracy": "Grounding",
    "sequence_score": "Sequence score",
    "action_score": "Action score",
}


def metrics(protocol: OfflineProtocol, steps: Sequence[ScoredStep], level: float = LEVEL) -> list[MetricResult]:
    """The metrics of a protocol over these steps.

    Mind2Web's are means over tasks of the means over their steps, as its paper's; AndroidControl's means over steps.
    OmniACT's are sums of scores divided by the best sum. A step without an answer counts nowhere.
    """
    results = [_mean(name, share, protocol, steps, level) for name, share in _STEPS[protocol].items()]
    return results if protocol is OfflineProtocol.OMNIACT else [*results, _task_success(protocol, steps, level)]


def by_group(
    protocol: OfflineProtocol, steps: Iterable[ScoredStep], level: float = LEVEL
) -> Mapping[str, Sequence[MetricResult]]:
    """The metrics of each group, in the groups' alphabetical order."""
    groups: dict[str, list[ScoredStep]] = defaultdict(list)
    for step in steps:
        groups[step.group].append(step)
    return {name: metrics(protocol, groups[name], level) for name in sorted(groups)}


def _mean(
    name: str, share: Callable[[StepScore], Share], protocol: OfflineProtocol, steps: Sequence[ScoredStep], level: float
) -> MetricResult:
    shares: dict[Hashable, list[tuple[float, float]]] = defaultdict(list)
    for step in steps:
        if step.score is not None and (own := share(step.score)) is not None:
            shares[step.demonstration].append(own)
    if not shares:
        return MetricResult(name, None, None, 0)
    reached = np.array([sum(points for points, _ in own) for own in shares.values()])
    most = np.array([sum(maximum for _, maximum in own) for own in shares.values()])
    if protocol is OfflineProtocol.MIND2WEB:
        reached, most = reached / most, np.ones_like(most)
    interval = cluster_mean_of_columns(most, reached, level=level)
    return MetricResult(name, float(reached.sum() / most.sum()), interval, sum(map(len, shares.values())))


def _task_success(protocol: OfflineProtocol, steps: Sequence[ScoredStep], level: float) -> MetricResult:
    """Share of demonstrations of which every step is right. One with an unanswered step counts only if it failed."""
    results: dict[Hashable, list[bool | None]] = defaultdict(list)
    for step in steps:
        results[step.demonstration].append(None if step.score is None else _succeeds(protocol, step.score))
    decided = [False not in own for own in results.values() if False in own or None not in own]
    rate = sum(decided) / len(decided) if decided else None
    return MetricResult("task_success", rate, wilson(sum(decided), len(decided), level), len(decided))


def _succeeds(protocol: OfflineProtocol, score: StepScore) -> bool | None:
    return score.web_success if protocol is OfflineProtocol.MIND2WEB else score.step_success
