"""Training data: selected episodes, those left out with reasons, and their records."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, case, func, literal, select
from sqlalchemy.orm import Session

from backend.db.models import (
    AgentConfiguration,
    Artifact,
    Attempt,
    Benchmark,
    Episode,
    Evaluation,
    Measure,
    Node,
    Run,
    Slot,
    Step,
    Task,
    TaskSet,
    Worker,
)
from backend.db.repositories.common_queries import in_quarantine
from backend.domain.model.episode import AttemptState, EpisodeState
from backend.domain.model.export_request import Filters
from backend.domain.model.trajectory_export import AgentKind, AttemptResult

NOT_MATCHING = "not asked for"
QUARANTINE = "the task is in quarantine"
LICENCE = "the licence is not known to be open"
NO_PICTURES = "no picture was recorded"


@dataclass(frozen=True)
class Scope:
    """Project and filters of an export.

    Attributes:
        closed: benchmarks without an open licence; used only if the filters require one.
    """

    project_id: UUID
    filters: Filters
    closed: Collection[UUID] = ()


@dataclass(frozen=True)
class EpisodeGroup:
    """Number of episodes with these properties. `reason` is empty for exported ones."""

    reason: str
    result: str | None
    kind: str
    benchmark_id: UUID
    episodes: int
    steps: int


@dataclass(frozen=True)
class TrainingEpisode:
    """An exported episode with everything that it refers to."""

    episode: Episode
    attempt: Attempt
    evaluation: Evaluation
    run: Run
    task: Task
    task_set: TaskSet
    benchmark: Benchmark
    agent: AgentConfiguration
    worker: Worker
    node: str
    kind: str
    result: str


def groups(session: Session, scope: Scope) -> list[EpisodeGroup]:
    """Counts of all episodes of the scope, including excluded ones."""
    columns = (_reason(scope), _result(), _kind(), TaskSet.benchmark_id)
    query = _join_rows(select(*columns, func.count(), func.coalesce(func.sum(Episode.steps), 0)))
    rows = session.execute(_filter_rows(query, scope).group_by(*columns))
    return sorted(
        (EpisodeGroup(*row) for row in rows), key=lambda g: (g.reason, str(g.result), g.kind, g.benchmark_id.hex)
    )


def page(session: Session, scope: Scope, after: UUID | None, limit: int) -> list[TrainingEpisode]:
    """The next exported episodes, in order of creation."""
    entities = (Episode, Attempt, Evaluation, Run, Task, TaskSet, Benchmark, AgentConfiguration, Worker, Node.name)
    query = _join_rows(select(*entities, _kind(), _result()))
    query = query.join(Worker, Worker.id == Attempt.worker_id).join(Slot, Slot.id == Attempt.slot_id)
    query = _filter_rows(query.join(Node, Node.id == Slot.node_id), scope).where(_reason(scope) == "")
    return [TrainingEpisode(*row) for row in session.execute(_after(query, after).limit(limit))]


def excluded_episodes(
    session: Session, scope: Scope, after: UUID | None, limit: int
) -> list[tuple[UUID, UUID, str, str]]:
    """The next (episode, run, task, reason) of selected episodes that are not exported."""
    reason = _reason(scope)
    query = _join_rows(select(Episode.id, Episode.run_id, Task.domain + "/" + Task.name, reason))
    query = _filter_rows(query, scope).where(reason.not_in(("", NOT_MATCHING)))
    return [(row[0], row[1], row[2], row[3]) for row in session.execute(_after(query, after).limit(limit))]


def steps(session: Session, attempt_ids: Sequence[UUID]) -> Iterator[Step]:
    """Steps of these attempts, by attempt and in order."""
    query = select(Step).where(Step.attempt_id.in_(attempt_ids)).order_by(Step.attempt_id, Step.index)
    yield from session.scalars(query.execution_options(yield_per=200))


def benchmarks(session: Session, project_id: UUID) -> list[Benchmark]:
    """All benchmarks of a project."""
    return list(session.scalars(select(Benchmark).where(Benchmark.project_id == project_id).order_by(Benchmark.name)))


def choices(session: Session, project_id: UUID) -> list[tuple[str, str, str | None, str]]:
    """(benchmark, domain, level, agent) of scored episodes, distinct."""
    query = select(Benchmark.name, Task.domain, Task.level, AgentConfiguration.name).distinct()
    query = (
        query.select_from(Episode)
        .join(Run, Run.id == Episode.run_id)
        .join(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id)
    )
    query = query.join(Task, Task.id == Episode.task_id).join(TaskSet, TaskSet.id == Task.task_set_id)
    query = query.join(Benchmark, Benchmark.id == TaskSet.benchmark_id)
    scored = Episode.state == EpisodeState.SCORED.value
    rows = session.execute(query.where(Run.project_id == project_id, scored))
    return [(row[0], row[1], row[2], row[3]) for row in rows]


def _join_rows(query: Any) -> Select[Any]:
    """An episode with everything that belongs to it; attempt and evaluation only if it is scored."""
    scored = (Attempt.episode_id == Episode.id) & (Attempt.state == AttemptState.SCORED.value)
    statement: Select[Any] = (
        query.select_from(Episode)
        .join(Run, Run.id == Episode.run_id)
        .join(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id)
        .join(Task, Task.id == Episode.task_id)
        .join(TaskSet, TaskSet.id == Task.task_set_id)
        .join(Benchmark, Benchmark.id == TaskSet.benchmark_id)
        .outerjoin(Attempt, scored)
        .outerjoin(Evaluation, (Evaluation.attempt_id == Attempt.id) & Evaluation.current)
    )
    return statement


def _after(query: Select[Any], after: UUID | None) -> Select[Any]:
    return (query if after is None else query.where(Episode.id > after)).order_by(Episode.id)


def _filter_rows(query: Select[Any], scope: Scope) -> Select[Any]:
    """Conditions on task, run and time; `_reason` has those on the outcome."""
    filters = scope.filters
    lists: Sequence[tuple[ColumnElement[Any] | Any, Collection[Any]]] = (
        (_kind(), filters.kinds),
        (Benchmark.name, filters.benchmarks),
        (Task.domain, filters.domains),
        (Task.level, filters.levels),
        (Task.difficulty, filters.difficulties),
        (AgentConfiguration.name, filters.agents),
        (Run.id, filters.runs),
    )
    query = query.where(Run.project_id == scope.project_id)
    query = query.where(*(column.in_([*values]) for column, values in lists if values))
    if filters.since is not None:
        query = query.where(Episode.ended_at >= filters.since)
    return query if filters.until is None else query.where(Episode.ended_at < filters.until)


def _kind() -> ColumnElement[str]:
    return case(
        (Episode.human_assisted, AgentKind.HUMAN_ASSISTED.value),
        (AgentConfiguration.human, AgentKind.HUMAN.value),
        (AgentConfiguration.name == "oracle", AgentKind.ORACLE.value),
        (Run.pins.has_key("model"), AgentKind.MODEL.value),
        else_=AgentKind.OTHER.value,
    )


def _result() -> ColumnElement[str | None]:
    """None if not scored. A reached part has the value 1."""
    some = (Episode.score > 0) | Evaluation.parts.contains([{"value": 1.0}])
    return case(
        (Episode.solved.is_(True), AttemptResult.SOLVED.value),
        (Episode.solved.is_(None), None),
        (some, AttemptResult.PARTIAL.value),
        else_=AttemptResult.UNSOLVED.value,
    )


def _reason(scope: Scope) -> ColumnElement[str]:
    """The first reason to exclude an episode; empty if it is included."""
    lost = literal("lost: ") + func.coalesce(Episode.failure_class, "")
    has_picture = select(Step.id).where(Step.attempt_id == Attempt.id, Step.frame_sha256.is_not(None)).exists()
    closed = Benchmark.id.in_(list(scope.closed)) if scope.filters.open_licence else literal(value=False)
    return case(
        (Episode.state == EpisodeState.LOST.value, lost),
        (Episode.state != EpisodeState.SCORED.value, func.replace(Episode.state, "_", " ")),
        (~_outcome_filter(scope.filters), NOT_MATCHING),
        (in_quarantine(Task.id), QUARANTINE),
        (closed, LICENCE),
        (~has_picture, NO_PICTURES),
        else_="",
    )


def _outcome_filter(filters: Filters) -> ColumnElement[bool]:
    """Conditions on the outcome of a scored episode."""
    condition: ColumnElement[bool] = literal(value=True)
    if filters.results:
        condition &= _result().in_([*filters.results])
    if filters.min_score is not None:
        condition &= Episode.score >= filters.min_score
    for floor in filters.measures:
        rows = select(Measure.name).where(Measure.evaluation_id == Evaluation.id, Measure.name == floor.name)
        condition &= rows.where(Measure.value >= floor.least).exists()
    return condition


def media_types(session: Session, hashes: Collection[str]) -> dict[str, str]:
    """Media types by hash."""
    query = select(Artifact.sha256, Artifact.media_type).where(Artifact.sha256.in_(hashes))
    return {row[0]: row[1] for row in session.execute(query)}


def sizes(session: Session, hashes: Collection[str]) -> dict[str, int]:
    """Bytes by hash."""
    query = select(Artifact.sha256, Artifact.size).where(Artifact.sha256.in_(hashes))
    return {row[0]: row[1] for row in session.execute(query)}
