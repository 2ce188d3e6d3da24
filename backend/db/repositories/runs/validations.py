"""Validation runs and their results per task."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import distinct_on, insert
from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import AgentConfiguration, Episode, Run, Task, TaskValidation
from backend.db.models.enums import Purpose
from backend.domain.model.episode import EpisodeState
from backend.domain.model.reason import Reason, ReasonCode
from backend.domain.model.run import VALIDATION_AGENTS


def store(session: Session, episode: Episode, agent: str, evaluator_version: str | None) -> None:
    """Stores an episode's result; one result per episode."""
    row = {
        "task_id": episode.task_id,
        "agent": agent,
        "score": episode.score,
        "outcome": str(episode.outcome),
        "evaluator_version": evaluator_version,
    }
    query = insert(TaskValidation).values({"id": uuid7(), "episode_id": episode.id, **row})
    session.execute(query.on_conflict_do_update(index_elements=["episode_id"], set_=row))


def newest_runs(session: Session, task_set_id: UUID) -> dict[str, Run]:
    """The newest validation run of each agent."""
    query = (
        select(AgentConfiguration.name, Run)
        .join(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id)
        .where(Run.task_set_id == task_set_id, Run.purpose == Purpose.VALIDATE.value)
        .where(AgentConfiguration.name.in_(VALIDATION_AGENTS))
        .ext(distinct_on(AgentConfiguration.name))
        .order_by(AgentConfiguration.name, Run.id.desc())
    )
    return {row[0]: row[1] for row in session.execute(query)}


def newest_results(session: Session, task_set_id: UUID) -> dict[UUID, dict[str, TaskValidation]]:
    """The newest result of each agent on each task."""
    query = (
        select(TaskValidation)
        .join(Task, Task.id == TaskValidation.task_id)
        .where(Task.task_set_id == task_set_id)
        .ext(distinct_on(TaskValidation.task_id, TaskValidation.agent))
        .order_by(TaskValidation.task_id, TaskValidation.agent, TaskValidation.id.desc())
    )
    by_task: dict[UUID, dict[str, TaskValidation]] = {}
    for row in session.scalars(query):
        by_task.setdefault(row.task_id, {})[row.agent] = row
    return by_task


def not_runnable(session: Session, run_ids: Sequence[UUID]) -> dict[UUID, Reason]:
    """Why tasks could not run in these runs."""
    query = select(Episode.task_id, Episode.reason_code, Episode.reason).where(
        Episode.run_id.in_(run_ids), Episode.state == EpisodeState.NOT_RUNNABLE.value
    )
    return {row[0]: Reason(ReasonCode(row[1] or ReasonCode.OTHER), row[2]) for row in session.execute(query)}
