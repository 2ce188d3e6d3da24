"""Queries of the list of runs and of one run's page."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Double, String, and_, case, cast, func, literal, select
from sqlalchemy.orm import Session

from backend.db.models import AgentConfiguration, Attempt, Benchmark, Episode, Event, Rollup, Run, Step, Task, TaskSet
from backend.db.models.enums import Dimension
from backend.db.repositories.benchmarks import labels
from backend.db.repositories.common_queries import (
    AnyRow,
    contains_words,
    has_difficulty,
    newest_attempt,
    outcome_style,
    run_columns,
)
from backend.db.repositories.pagination import Columns, in_order
from backend.domain.model.sort_order import SortOrder
from backend.domain.model.task import DIFFICULTIES

RunFilter = dict[str, str]
EMULATED = "tcg"
"""Accelerator of virtual machines without KVM."""
_MOST_WORDS = 160
"""Maximum characters of a loss's reason; longer ones are truncated."""


RUN_ORDER: Columns = {
    "run": func.lower(func.coalesce(func.nullif(Run.name, ""), AgentConfiguration.title)),
    "status": Run.state,
    "success-rate": Rollup.solved / func.nullif(cast(Rollup.scored, Double), 0.0),
    "mean-score": Rollup.score_sum / func.nullif(Rollup.scored, 0),
    "time": func.coalesce(Run.ended_at, func.now()) - Run.started_at,
    "submitted": Run.id,
}
"""Columns by which a list of runs can be sorted; rates are those of the stored roll-ups."""
EPISODE_ORDER: Columns = {
    "task": Task.domain + "/" + Task.name,
    "difficulty": case({name: index for index, name in enumerate(DIFFICULTIES)}, value=Task.difficulty),
    "state": outcome_style(),
    "score": Episode.score,
    "steps": Episode.steps,
    "attempts": Episode.attempt_count,
    "time": Episode.ended_at - Episode.started_at,
}
"""Columns by which the episodes of a run can be sorted."""


def _conditions(filters: RunFilter) -> list[ColumnElement[bool]]:
    exact = {"benchmark": Benchmark.name, "agent": AgentConfiguration.name, "status": Run.state, "purpose": Run.purpose}
    conditions = [column == filters[name] for name, column in exact.items() if filters.get(name)]
    if filters.get("configuration"):
        conditions.append(Run.agent_configuration_id == UUID(filters["configuration"]))
    words = filters.get("q", "").strip()
    if words:
        columns = (Run.name, AgentConfiguration.title, AgentConfiguration.name, Benchmark.name)
        conditions.append(contains_words(words, *columns))
    return conditions


def runs(
    session: Session, filters: RunFilter, before: UUID | None, limit: int, order: SortOrder | None = None
) -> Sequence[AnyRow]:
    """Runs created before `before`, newest first, or a page of them in another order; one more than `limit`, if any."""
    query = run_columns().where(*_conditions(filters))
    if order is not None:
        total = and_(Rollup.run_id == Run.id, Rollup.dimension == Dimension.ALL.value)
        return session.execute(in_order(query.outerjoin(Rollup, total), RUN_ORDER, order, Run.id, limit)).all()
    if before is not None:
        query = query.where(Run.id < before)
    return session.execute(query.order_by(Run.id.desc()).limit(limit + 1)).all()


def names(session: Session) -> tuple[Sequence[str], Sequence[str]]:
    """Benchmarks and agents that have runs, for the filters."""
    agents = session.scalars(select(AgentConfiguration.name).distinct().order_by(AgentConfiguration.name)).all()
    return session.scalars(select(Benchmark.name).where(~Benchmark.hidden).order_by(Benchmark.name)).all(), agents


def waiting_by_licences(session: Session, run_id: UUID) -> Sequence[AnyRow]:
    """Waiting episodes whose task needs licences: (licences, n)."""
    query = select(Task.licences, func.count().label("n")).join(Episode, Episode.task_id == Task.id)
    query = query.where(Episode.run_id == run_id, Episode.state == "waiting", Task.licences != {})
    return session.execute(query.group_by(Task.licences)).all()


def run(session: Session, run_id: UUID) -> AnyRow | None:
    """One run with its names."""
    return session.execute(run_columns().where(Run.id == run_id)).one_or_none()


def task_set(session: Session, task_set_id: UUID) -> TaskSet:
    """The version of the tasks that a run is of."""
    return session.get_one(TaskSet, task_set_id)


def matrix(session: Session, run_id: UUID, names: tuple[str, str]) -> Sequence[AnyRow]:
    """(rows, columns, look, n): numbers of episodes by the values that their tasks have of two labels, and by style."""
    row, column = (Task.labels[name] for name in names)
    query = (
        select(row.label("rows"), column.label("columns"), outcome_style().label("look"), func.count().label("n"))
        .join(Task, Task.id == Episode.task_id)
        .where(Episode.run_id == run_id)
        .group_by("rows", "columns", "look")
    )
    return session.execute(query).all()


def phases(session: Session, run_id: UUID) -> Sequence[AnyRow]:
    """(phase, seconds, attempts) over all attempts of a run."""
    pairs = func.jsonb_each_text(Attempt.seconds).table_valued("key", "value").lateral("pairs")
    query = (
        select(pairs.c.key, func.sum(cast(pairs.c.value, Double)).label("seconds"), func.count().label("n"))
        .select_from(Attempt)
        .join(Episode, Episode.id == Attempt.episode_id)
        .join(pairs, literal(value=True))
        .where(Episode.run_id == run_id)
        .group_by(pairs.c.key)
    )
    return session.execute(query).all()


def machines(session: Session, run_id: UUID) -> AnyRow:
    """(attempts on virtual machines, those on emulated ones, a warning about the latter) of a run."""
    accelerator = Attempt.desktop["accelerator"].astext
    query = (
        select(
            func.count(accelerator).label("attempts"),
            func.count().filter(accelerator == EMULATED).label("emulated"),
            func.max(Attempt.desktop["warning"].astext).filter(accelerator == EMULATED).label("warning"),
        )
        .select_from(Attempt)
        .join(Episode, Episode.id == Attempt.episode_id)
        .where(Episode.run_id == run_id)
    )
    return session.execute(query).one()


def untold(session: Session, run_id: UUID) -> float:
    """Seconds without a phase, of attempts lost to the cluster: dead workers reported none."""
    pairs = func.jsonb_each_text(Attempt.seconds).table_valued("key", "value")
    phase_seconds = select(func.coalesce(func.sum(cast(pairs.c.value, Double)), 0.0)).scalar_subquery()
    seconds = cast(func.extract("epoch", Attempt.ended_at - Attempt.started_at), Double)
    lost = (Attempt.state == "lost", Attempt.failure_class == "cluster")
    query = select(func.sum(func.greatest(seconds - phase_seconds, 0.0))).join(
        Episode, Episode.id == Attempt.episode_id
    )
    return session.scalar(query.where(Episode.run_id == run_id, *lost)) or 0.0


def usage_totals(session: Session, run_id: UUID) -> AnyRow:
    """Sums over all steps: tokens, cost, waiting; numbers without a price, with failed code, scripts, parts."""

    def total(name: str) -> ColumnElement[float]:
        return func.coalesce(func.sum(cast(Step.usage[name].astext, Double)), 0.0).label(name)

    names = ("calls", "input_tokens", "output_tokens", "cached_tokens", "usd", "wait_seconds")
    unpriced = func.count().filter(Step.usage["priced"].astext == "false").label("unpriced")
    failed = func.count().filter(Step.extras.has_key("code_failed")).label("code_failed")
    guest_calls = func.count().filter(Step.extras.has_key("guest_calls")).label("guest_calls")
    parts = func.count().filter(Step.extras.has_key("model_calls")).label("with_parts")
    query = (
        select(*map(total, names), unpriced, failed, guest_calls, parts)
        .join(Attempt, Attempt.id == Step.attempt_id)
        .join(Episode, Episode.id == Attempt.episode_id)
        .where(Episode.run_id == run_id)
    )
    return session.execute(query).one()


def losses(session: Session, run_id: UUID, limit: int) -> Sequence[AnyRow]:
    """Lost attempts by class, code and first line: (class, code, reason, attempts, episodes, lost, one episode)."""
    line = func.split_part(Attempt.failure_message, "\n", 1)
    reason = case((func.length(line) > _MOST_WORDS, func.concat(func.left(line, _MOST_WORDS - 1), "…")), else_=line)
    query = (
        select(
            Attempt.failure_class,
            Attempt.failure_code,
            reason.label("reason"),
            func.count().label("attempts"),
            func.count(Episode.id.distinct()).label("episodes"),
            func.count(Episode.id.distinct()).filter(Episode.state == "lost").label("lost"),
            func.min(cast(Episode.id, String)).label("example"),
        )
        .join(Episode, Episode.id == Attempt.episode_id)
        .where(Episode.run_id == run_id, Attempt.state == "lost")
        .group_by(Attempt.failure_class, Attempt.failure_code, reason)
        .order_by(func.count().desc())
        .limit(limit)
    )
    return session.execute(query).all()


def not_runnable(session: Session, run_id: UUID) -> Sequence[AnyRow]:
    """(reason_code, reason, episodes) of episodes that could not run here."""
    query = (
        select(Episode.reason_code, Episode.reason, func.count().label("n"))
        .where(Episode.run_id == run_id, Episode.state == "not_runnable")
        .group_by(Episode.reason_code, Episode.reason)
        .order_by(func.count().desc())
    )
    return session.execute(query).all()


def episodes(  # noqa: PLR0913, PLR0917 - which ones, in which order, from where on
    session: Session,
    run_ids: Sequence[UUID],
    filters: Mapping[str, Any],
    after: UUID | None,
    limit: int,
    order: SortOrder | None = None,
) -> Sequence[AnyRow]:
    """Episodes of runs: (Episode, Task, newest Attempt), one more than `limit` if there is one.

    They are in the order of submission from `after` on, or a page of them in another order. `filters["where"]`:
    accepted values by label of their tasks; `filters["q"]`: words of a task's name or instruction.
    """
    conditions = [Episode.run_id.in_(run_ids), *labels.has(filters.get("where", {}))]
    if filters.get("domain"):
        conditions.append(Task.domain == filters["domain"])
    if filters.get("difficulty"):
        conditions.append(has_difficulty(filters["difficulty"]))
    if filters.get("outcome"):
        conditions.append(outcome_style() == filters["outcome"])
    if words := filters.get("q", "").strip():
        columns = (Task.domain + "/" + Task.name, Task.instruction)
        conditions.append(contains_words(words, *columns))
    rows = select(Episode, Task, Attempt).join(Task, Task.id == Episode.task_id)
    rows = rows.outerjoin(Attempt, Attempt.id == newest_attempt())
    if order is None:
        later = [Episode.id > after] if after is not None else []
        return session.execute(rows.where(*conditions, *later).order_by(Episode.id).limit(limit + 1)).all()
    # First which ones: the rest of a row is read for one page only.
    ids = select(Episode.id).join(Task, Task.id == Episode.task_id).where(*conditions)
    selected_ids = list(session.scalars(in_order(ids, EPISODE_ORDER, order, Episode.id, limit)))
    by_id = {row.Episode.id: row for row in session.execute(rows.where(Episode.id.in_(selected_ids)))}
    return [by_id[episode_id] for episode_id in selected_ids]


def configs(session: Session, run_ids: Sequence[UUID]) -> dict[UUID, Mapping[str, Any]]:
    """Configs of these runs by id."""
    query = select(Run.id, Run.config).where(Run.id.in_(run_ids))
    return {row.id: row.config for row in session.execute(query)}


def events(session: Session, run_id: UUID, limit: int) -> Sequence[Event]:
    """The newest events of a run, newest first."""
    query = select(Event).where(Event.run_id == run_id).order_by(Event.seq.desc()).limit(limit)
    return session.scalars(query).all()
