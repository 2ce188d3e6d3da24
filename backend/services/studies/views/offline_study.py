"""Views of demonstrations, offline studies and their results, also as flat rows."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from backend.db.models.enums import OfflineAnswerState
from backend.domain.model.demonstration import Reference, SetForm
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import Action
from backend.domain.statistics.intervals import Interval
from backend.domain.statistics.paired import Pair, compare
from backend.domain.studies.offline_results import (
    TITLES,
    MetricResult,
    OfflineProtocol,
    ScoredStep,
    by_group,
    metrics,
    protocol_of,
)
from backend.domain.studies.offline_scores import StepScore, step_score, summary
from backend.domain.studies.study import Design
from backend.services.configurations.configuration_ref import ConfigurationRef, configuration_ref
from backend.services.read_model import ReadModel
from backend.services.studies.demonstrations import SetDetail
from backend.services.studies.offline_studies import AnswerDetail, OfflineStudyDetail
from backend.services.studies.views.study import FactorView

METHODS: Mapping[OfflineProtocol, str] = {
    OfflineProtocol.MIND2WEB: (
        "Mind2Web (arXiv 2306.06070): means over demonstrations of the means over their steps. The element is right "
        "if the answer's point lies on it; operation F1 is over the words of operation and value."
    ),
    OfflineProtocol.ANDROID_CONTROL: (
        "AndroidControl (arXiv 2406.03679): means over steps. A place is right on the recorded element, or within 14 % "
        "of the screen from the recorded point (arXiv 2307.10088)."
    ),
    OfflineProtocol.OMNIACT: (
        "OmniACT (arXiv 2402.17553): scores divided by the best possible ones; the action score has penalties for "
        "places, keys and texts."
    ),
}
INTERVALS = (
    "Intervals: {level:.0%}, Wilson's by the effective number of trials, demonstrations as clusters. Agents were asked "
    "at each step with the recorded steps before it. Steps without an answer count nowhere. Not comparable with runs."
)


class DemonstrationSetView(ReadModel):
    """A set of demonstrations."""

    id: UUID
    name: str = Field(examples=["shop"])
    form: SetForm
    source: str = Field(description="Source and licence of the set.")
    content_hash: str
    demonstrations: int = Field(examples=[20])
    steps: int = Field(examples=[140])
    created_at: datetime


class OfflineStudyView(ReadModel):
    """An offline study and its progress."""

    id: UUID
    name: str
    notice: str = Field(default="", description="What its submitter should know, such as that no worker is online yet.")
    demonstrations: str = Field(description="Name of the set.", examples=["shop"])
    form: SetForm
    design: Design
    factors: list[FactorView]
    sample: float | None
    level: float
    agents: list[str] = Field(examples=[["prompt"]])
    cells: int
    answers: int
    ended: int = Field(description="Answers that are not waited for.")
    states: dict[str, int] = Field(description="Answers by state.")
    budget_reached: str = Field(
        default="", description="Which limit of the project is reached: nothing more is asked for now."
    )
    actor: str
    created_at: datetime
    url: str = Field(examples=["/studies/offline/018f0000-0000-7000-8000-000000000000"])


class MetricView(ReadModel):
    """A mean with its interval; null if no step has the metric."""

    name: str = Field(examples=["step_success"])
    title: str = Field(examples=["Step success"])
    value: float | None
    interval: Interval | None
    n: int = Field(description="Steps that have it; demonstrations for task_success.")


class StepDifference(ReadModel):
    """Step success minus that of the base cell, over steps that both have."""

    difference: float
    interval: Interval
    pairs: int
    only_base: int
    only_this: int
    p_value: float | None = Field(description="Two-sided; not adjusted.")
    test: str


class OfflineCellView(ReadModel):
    """One cell with its metrics."""

    number: int = Field(description="0 is the base cell.")
    levels: dict[str, Any]
    configuration: ConfigurationRef
    metrics: list[MetricView]
    against_base: StepDifference | None
    answered: int
    invalid: int = Field(description="Answers that are not an action; they count as wrong.")
    failed: int = Field(description="Steps without an answer, for no fault of the agent.")
    waiting: int
    input_tokens: int
    output_tokens: int
    usd: float
    priced: bool
    mean_seconds: float | None


class GroupView(ReadModel):
    """A cell's metrics over some of the steps."""

    number: int
    group: str
    metrics: list[MetricView]


class OfflineResults(ReadModel):
    """Results of an offline study, as far as there are answers."""

    study: OfflineStudyView
    protocol: OfflineProtocol
    cells: list[OfflineCellView]
    by_action: list[GroupView] = Field(description="By the right kind of action.")
    labels: list[str] = Field(description="Labels of the demonstrations.")
    label: str = Field(description="The label of `by_label`; empty without one.")
    by_label: list[GroupView]
    methods: str


def set_view(detail: SetDetail) -> DemonstrationSetView:
    row = detail.row
    return DemonstrationSetView(
        id=row.id,
        name=row.name,
        form=SetForm(row.form),
        source=row.source,
        content_hash=row.content_hash,
        demonstrations=detail.demonstrations,
        steps=detail.steps,
        created_at=row.created_at,
    )


def offline_study_view(detail: OfflineStudyDetail) -> OfflineStudyView:
    config, number = detail.config, sum(detail.states.values())
    return OfflineStudyView(
        id=detail.study.id,
        name=detail.study.name,
        demonstrations=detail.demonstration_set.name,
        form=SetForm(detail.demonstration_set.form),
        design=config.design,
        factors=[FactorView(name=factor.name, levels=list(factor.levels)) for factor in config.factors],
        sample=config.sample,
        level=config.level,
        agents=sorted({cell.configuration.name for cell in detail.cells}),
        cells=len(detail.cells),
        answers=number,
        ended=number - detail.states.get(OfflineAnswerState.WAITING.value, 0),
        states=dict(detail.states),
        budget_reached=detail.budget_reached,
        actor=detail.actor,
        created_at=detail.study.created_at,
        url=f"/studies/offline/{detail.study.id}",
    )


def score_of(detail: AnswerDetail) -> StepScore | None:
    """The answer's score; None without an answer."""
    if detail.answer.state != OfflineAnswerState.ANSWERED.value:
        return None
    actions = [Action.model_validate(action) for action in detail.answer.actions]
    screen = ScreenSize(width=detail.step.width, height=detail.step.height)
    return step_score(Reference.model_validate(detail.step.reference), actions, screen)


def offline_results(
    study: OfflineStudyDetail,
    answers: Sequence[AnswerDetail],
    *,
    protocol: OfflineProtocol | None = None,
    label: str = "",
) -> OfflineResults:
    """The results by the set's own metrics, or by others.

    Args:
        study: the study.
        answers: all of its answers.
        protocol: whose metrics; None = the set's own.
        label: of demonstrations, by which results are divided; empty or unknown = the first one.
    """
    view = offline_study_view(study)
    protocol = protocol or protocol_of(view.form)
    labels = sorted({name for answer in answers for name in answer.demonstration.labels})
    label = label if label in labels else next(iter(labels), "")
    scores = {answer.answer.id: score_of(answer) for answer in answers}
    of_cell: dict[UUID, list[AnswerDetail]] = defaultdict(list)
    for answer in answers:
        of_cell[answer.answer.cell_id].append(answer)
    cells, actions, groups = list[OfflineCellView](), list[GroupView](), list[GroupView]()
    base = _successes(protocol, of_cell[study.cells[0].row.id], scores) if study.cells else {}
    for cell in study.cells:
        own, number = of_cell[cell.row.id], cell.row.number
        plain = [ScoredStep(detail.demonstration.id, scores[detail.answer.id]) for detail in own]
        numbers = [_metric(metric) for metric in metrics(protocol, plain, view.level)]
        against = _against(base, _successes(protocol, own, scores), view.level) if number else None
        facts = _facts(own)
        cells.append(
            OfflineCellView(
                number=number,
                levels=dict(cell.levels),
                configuration=configuration_ref(cell.configuration),
                metrics=numbers,
                against_base=against,
                **facts,
            )
        )
        kinds = [step._replace(group=operation_of(detail)) for step, detail in zip(plain, own, strict=True)]
        actions += _groups(number, protocol, kinds, view.level)
        if label:
            named = [
                step._replace(group=str(detail.demonstration.labels.get(label, "")))
                for step, detail in zip(plain, own, strict=True)
            ]
            groups += _groups(number, protocol, named, view.level)
    return OfflineResults(
        study=view,
        protocol=protocol,
        cells=cells,
        by_action=actions,
        labels=labels,
        label=label,
        by_label=groups,
        methods=f"{METHODS[protocol]} {INTERVALS.format(level=view.level)}",
    )


def _facts(answers: Sequence[AnswerDetail]) -> dict[str, Any]:
    """Numbers of a cell beside its metrics."""
    states = Counter(detail.answer.state for detail in answers)
    answered = [detail.answer for detail in answers if detail.answer.state == OfflineAnswerState.ANSWERED.value]
    usages = [answer.usage for answer in answered]
    return {
        "answered": len(answered),
        "invalid": sum(bool(answer.invalid) for answer in answered),
        "failed": states[OfflineAnswerState.FAILED.value] + states[OfflineAnswerState.CANCELLED.value],
        "waiting": states[OfflineAnswerState.WAITING.value],
        "input_tokens": sum(usage.get("input_tokens", 0) for usage in usages),
        "output_tokens": sum(usage.get("output_tokens", 0) for usage in usages),
        "usd": sum(usage.get("usd", 0.0) for usage in usages),
        "priced": all(usage.get("priced", True) for usage in usages),
        "mean_seconds": sum(answer.seconds for answer in answered) / len(answered) if answered else None,
    }


def _groups(number: int, protocol: OfflineProtocol, steps: Iterable[ScoredStep], level: float) -> list[GroupView]:
    return [
        GroupView(number=number, group=name, metrics=[_metric(result) for result in results])
        for name, results in by_group(protocol, steps, level).items()
    ]


def _metric(result: MetricResult) -> MetricView:
    return MetricView(**result._asdict(), title=TITLES[result.name])


def success_of(protocol: OfflineProtocol, score: StepScore | None) -> bool | None:
    if score is None:
        return None
    if protocol is OfflineProtocol.OMNIACT:
        return score.action_score == score.sequence_most if score.sequence_most else None
    return score.web_success if protocol is OfflineProtocol.MIND2WEB else score.step_success


def _successes(
    protocol: OfflineProtocol, answers: Sequence[AnswerDetail], scores: Mapping[UUID, StepScore | None]
) -> dict[UUID, tuple[str, bool]]:
    """(demonstration, whether it is right) by step, of those of which that is known."""
    known = ((answer, success_of(protocol, scores[answer.answer.id])) for answer in answers)
    return {detail.step.id: (detail.demonstration.key, right) for detail, right in known if right is not None}


def _against(
    base: Mapping[UUID, tuple[str, bool]], own: Mapping[UUID, tuple[str, bool]], level: float
) -> StepDifference | None:
    pairs = [Pair(key, float(base[step][1]), float(right)) for step, (key, right) in own.items() if step in base]
    comparison = compare(pairs, level=level)
    if comparison.success is None:
        return None
    return StepDifference(
        difference=comparison.success.value,
        interval=comparison.success.interval,
        pairs=comparison.pairs,
        only_base=comparison.only_base,
        only_this=comparison.only_other,
        p_value=comparison.p_value,
        test=comparison.test,
    )


def operation_of(detail: AnswerDetail) -> str:
    """The set's own word, else the kind of the right actions."""
    reference = Reference.model_validate(detail.step.reference)
    return reference.operation or summary([action.action for action in reference.actions]).kind


def metric_rows(results: OfflineResults) -> Iterator[dict[str, Any]]:
    """Each metric of each cell, over all steps, by action and by label."""
    for cell in results.cells:
        yield from _rows(cell.number, cell.configuration.name, "all", "", cell.metrics)
    names = {cell.number: cell.configuration.name for cell in results.cells}
    for cut, groups in (("action", results.by_action), (results.label, results.by_label)):
        for group in groups:
            yield from _rows(group.number, names[group.number], cut, group.group, group.metrics)


def _rows(number: int, name: str, cut: str, group: str, metrics: Sequence[MetricView]) -> Iterator[dict[str, Any]]:
    for metric in metrics:
        low, high = metric.interval or (None, None)
        yield {
            "cell": number,
            "configuration": name,
            "cut": cut,
            "group": group,
            "metric": metric.name,
            "value": metric.value,
            "low": low,
            "high": high,
            "n": metric.n,
        }
