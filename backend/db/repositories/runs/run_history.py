"""Queries of estimates for a new run: what episodes of earlier runs took, and how often their tasks were solved."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Double, Integer, cast, func, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Session

from backend.db.models import AgentConfiguration, Attempt, Episode, Run, TaskSet
from backend.db.models.enums import Origin, Purpose
from backend.db.repositories.common_queries import AnyRow
from backend.domain.model.episode import EpisodeState, RunState

RUNS, EPISODES = 40, 400
COMPARED_RUNS, COMPARED_EPISODES = 6, 2000


def runs_of(session: Session, benchmark_id: UUID, agent: str) -> Sequence[AnyRow]:
    """An agent's newest runs on a benchmark: (id, provider, model), newest first."""
    query = (
        select(Run.id, Run.provider, AgentConfiguration.params["model"].astext.label("model"))
        .join(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id)
        .join(TaskSet, TaskSet.id == Run.task_set_id)
        .where(TaskSet.benchmark_id == benchmark_id, AgentConfiguration.name == agent, Run.origin == Origin.MEASURED)
        .order_by(Run.id.desc())
        .limit(RUNS)
    )
    return session.execute(query).all()


def episode_costs(session: Session, run_ids: Sequence[UUID]) -> Sequence[AnyRow]:
    """Cost of each of the newest ended episodes, over all of its attempts.

    Returns:
        Rows (seconds, input_tokens, output_tokens, calls, usd, unpriced): seconds in which it held a desktop; sums of
        its attempts' model calls, None without a record; number of attempts with a call without a price.
    """
    newest = (
        select(Episode.id)
        .where(Episode.run_id.in_(run_ids), Episode.state.in_((EpisodeState.SCORED, EpisodeState.HANDED_IN)))
        .order_by(Episode.id.desc())
        .limit(EPISODES)
        .subquery()
    )
    sums = [
        func.sum(cast(Attempt.usage[name].astext, Double)).label(name)
        for name in ("input_tokens", "output_tokens", "calls", "usd")
    ]
    query = (
        select(
            func.sum(cast(func.extract("epoch", Attempt.ended_at - Attempt.started_at), Double)).label("seconds"),
            *sums,
            func.count().filter(Attempt.usage["priced"].astext == "false").label("unpriced"),
        )
        .join(newest, newest.c.id == Attempt.episode_id)
        .where(Attempt.ended_at.is_not(None))
        .group_by(Attempt.episode_id)
    )
    return session.execute(query).all()


def compared_runs(session: Session, task_set_id: UUID) -> Sequence[AnyRow]:
    """The newest completed measuring run of each of the last configurations on a task set: (id, configuration)."""
    newest = (
        select(Run.id, Run.agent_configuration_id.label("configuration"))
        .ext(distinct_on(Run.agent_configuration_id))
        .where(Run.task_set_id == task_set_id, Run.state == RunState.COMPLETED, Run.purpose == Purpose.MEASURE)
        .order_by(Run.agent_configuration_id, Run.id.desc())
        .subquery()
    )
    query = select(newest).order_by(newest.c.id.desc()).limit(COMPARED_RUNS)
    return session.execute(query).all()


def task_rates(session: Session, run_id: UUID, passes: int) -> dict[UUID, float]:
    """Share of a task's first `passes` episodes that were solved, by task, of at most 2,000 episodes in task order."""
    first = (
        select(Episode.task_id, cast(Episode.solved, Integer).label("solved"))
        .where(Episode.run_id == run_id, Episode.state == EpisodeState.SCORED, Episode.repeat_index <= passes)
        .order_by(Episode.task_id, Episode.repeat_index)
        .limit(COMPARED_EPISODES)
        .subquery()
    )
    rows = session.execute(select(first.c.task_id, func.avg(first.c.solved)).group_by(first.c.task_id))
    return {task_id: float(rate) for task_id, rate in rows}
