"""Costs of scored episodes (tokens, USD, seconds, node hours) and durations of runs."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Date, Double, Select, cast, func, select, text
from sqlalchemy.orm import Session

from backend.db.models import Attempt, Episode, Node, Run, Slot, TaskSet
from backend.db.repositories.common_queries import NOT_QUARANTINED, AnyRow, in_quarantine
from backend.domain.model.episode import AttemptState, EpisodeState

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
ORACLE = "oracle"
"""The agent that performs a task's own solution."""


def _seconds() -> ColumnElement[float]:
    return cast(func.extract("epoch", Attempt.ended_at - Attempt.started_at), Double)


def _of_counted_attempts(query: Select[Any], run_ids: Sequence[UUID], tasks: Collection[UUID] | None) -> Select[Any]:
    """Of the scored attempts of episodes that count; `tasks`: of these only."""
    query = query.join(Episode, Episode.id == Attempt.episode_id).where(
        Attempt.state == AttemptState.SCORED,
        Episode.run_id.in_(run_ids),
        Episode.state == EpisodeState.SCORED,
        ~Episode.human_assisted,
        ~in_quarantine(Episode.task_id),
    )
    return query if tasks is None else query.where(Episode.task_id.in_(tasks))


def episode_costs(session: Session, run_ids: Sequence[UUID], tasks: Collection[UUID] | None = None) -> AnyRow:
    """One row over the scored episodes of runs that count.

    Returns:
        (episodes, recorded, agent_seconds, seconds, input_tokens, output_tokens, calls, usd, unpriced): number of
        episodes, of those with a record of their tokens; mean seconds of the agent and of the whole attempt; sums;
        number of episodes with a call without a price.
    """
    sums = [func.sum(cast(Attempt.usage[name].astext, Double)).label(name)
            for name in ("input_tokens", "output_tokens", "calls", "usd")]  # fmt: skip
    query = select(
        func.count().label("episodes"),
        func.count(Attempt.usage).label("recorded"),
        func.avg(cast(Attempt.seconds["agent"].astext, Double)).label("agent_seconds"),
        func.avg(_seconds()).label("seconds"),
        *sums,
        func.count().filter(Attempt.usage["priced"].astext == "false").label("unpriced"),
    ).select_from(Attempt)
    return session.execute(_of_counted_attempts(query, run_ids, tasks)).one()


def node_hours(session: Session, run_ids: Sequence[UUID], tasks: Collection[UUID] | None = None) -> Sequence[AnyRow]:
    """(provider, node, day, hours) of the same attempts: each takes one of its node's slots, so a share of the node.

    `node` is the instance type of a cluster's node, else its name; `day` of the start, in UTC.
    """
    slots = select(Slot.node_id, Slot.provider, func.count().label("number")).group_by(Slot.node_id, Slot.provider)
    shares = slots.subquery()
    node = func.coalesce(Node.labels[INSTANCE_TYPE].astext, Node.name).label("node")
    day = cast(func.timezone("UTC", Attempt.started_at), Date).label("day")
    hours = (func.sum(_seconds() / shares.c.number) / 3600).label("hours")
    query = (
        select(Slot.provider, node, day, hours)
        .select_from(Attempt)
        .join(Slot, Slot.id == Attempt.slot_id)
        .join(Node, Node.id == Slot.node_id)
        .join(shares, (shares.c.node_id == Slot.node_id) & (shares.c.provider == Slot.provider))
    )
    return session.execute(
        _of_counted_attempts(query, run_ids, tasks)
        .group_by(Slot.provider, node, day)
        .order_by(Slot.provider, node, day)
    ).all()


def pinned_prices(session: Session, run_ids: Sequence[UUID]) -> Sequence[AnyRow]:
    """(model, since) of the prices that these runs were submitted with; since is None for a model without one."""
    model = Run.pins["model"]["asked"].astext.label("model")
    since = Run.pins["model"]["price"]["since"].astext.label("since")
    query = select(model, since).where(Run.id.in_(run_ids), Run.pins.has_key("model"))
    return session.execute(query.distinct().order_by(model, since)).all()


def kind_of_tasks(session: Session, run_ids: Sequence[UUID]) -> str:
    """Kind of benchmark that the runs' tasks are of; empty without runs."""
    query = select(TaskSet.kind).join(Run, Run.task_set_id == TaskSet.id).where(Run.id.in_(run_ids)).limit(1)
    return session.scalar(query) or ""


_STEP_RATIOS = text(f"""
    WITH oracle AS (
        SELECT e.task_id, min(e.steps) AS steps
        FROM run r
        JOIN agent_configuration c ON c.id = r.agent_configuration_id AND c.name = :oracle
        JOIN episode e ON e.run_id = r.id AND e.solved AND e.steps > 0
        WHERE r.deleted_at IS NULL AND r.task_set_id IN (SELECT task_set_id FROM run WHERE id = ANY(:runs))
        GROUP BY e.task_id
    ), solved AS (
        SELECT e.steps / CAST(nullif(t.human_steps, 0) AS float) AS people, e.steps / CAST(o.steps AS float) AS oracle,
            e.steps / CAST(CAST(:minimum AS jsonb) ->> t.level AS float) AS minimum
        FROM episode e
        JOIN task t ON t.id = e.task_id
        LEFT JOIN oracle o ON o.task_id = e.task_id
        WHERE e.run_id = ANY(:runs) AND e.solved AND NOT e.human_assisted AND {NOT_QUARANTINED}
            AND (CAST(:tasks AS uuid[]) IS NULL OR e.task_id = ANY(:tasks))
    )
    SELECT avg(people) AS people, count(people) AS people_n, avg(oracle) AS oracle, count(oracle) AS oracle_n,
        avg(minimum) AS minimum, count(minimum) AS minimum_n
    FROM solved
""")  # noqa: S608 - fixed words


def step_ratios(
    session: Session, run_ids: Sequence[UUID], minimum: Mapping[str, float], tasks: Collection[UUID] | None = None
) -> AnyRow:
    """Steps of solved episodes that count over those of a reference, as mean of the ratios and number of episodes.

    Args:
        session: the transaction.
        run_ids: runs on one version of the tasks.
        minimum: published minimum of steps by level.
        tasks: on these only.

    Returns:
        (people, people_n, oracle, oracle_n, minimum, minimum_n): against the task's human steps, the fewest steps of an
        oracle's solution, and the published minimum.
    """
    values = {"runs": list(run_ids), "oracle": ORACLE, "minimum": json.dumps(dict(minimum))}
    return session.execute(_STEP_RATIOS, {**values, "tasks": None if tasks is None else list(tasks)}).one()


_MAKESPANS = text("""
    WITH span AS (
        SELECT e.run_id, a.started_at AS began, a.ended_at AS ended, max(a.ended_at) OVER (
            PARTITION BY e.run_id ORDER BY a.started_at, a.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before
        FROM attempt a JOIN episode e ON e.id = a.episode_id
        WHERE e.run_id = ANY(:runs) AND a.ended_at IS NOT NULL
    )
    SELECT run_id AS run,
        extract(epoch FROM sum(greatest(interval '0', ended - greatest(began, before))))::double precision AS makespan,
        extract(epoch FROM sum(ended - began))::double precision AS desktop_seconds
    FROM span GROUP BY run_id
""")


def makespans(session: Session, run_ids: Sequence[UUID]) -> Sequence[AnyRow]:
    """(run, makespan, desktop_seconds): seconds in which at least one attempt ran, and the sum over all attempts.

    Pauses between attempts are left out, so that a retry days later does not count as days.
    """
    return session.execute(_MAKESPANS, {"runs": list(run_ids)}).all()
