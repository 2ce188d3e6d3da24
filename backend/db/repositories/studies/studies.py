"""Studies, their runs and their episodes' results."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Text, case, cast, func, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Session

from backend.db.models import Actor, AgentConfiguration, Attempt, Episode, Evaluation, Measure, Run, Study, Task
from backend.db.repositories.common_queries import AnyRow, in_quarantine
from backend.db.repositories.pagination import Columns, CursorPage, sorted_page
from backend.domain.model.episode import EpisodeState
from backend.domain.model.sort_order import SortOrder

_UNDER_WAY = Episode.state.in_([EpisodeState.WAITING.value, EpisodeState.RUNNING.value])
ORDER: Columns = {
    "study": func.lower(func.coalesce(func.nullif(Study.name, ""), Study.config["base", "benchmark"].astext)),
    "factors": cast(Study.config["factors"], Text),
    "cells": select(func.count(Run.id)).where(Run.study_id == Study.id).correlate(Study).scalar_subquery(),
    "progress": select(func.avg(case((_UNDER_WAY, 0.0), else_=1.0)))
    .join(Run, Run.id == Episode.run_id)
    .where(Run.study_id == Study.id)
    .correlate(Study)
    .scalar_subquery(),
    "submitted": Study.created_at,
}
"""Columns by which a list of studies can be sorted; progress: the share of episodes that have ended."""


def get(session: Session, study_id: UUID) -> Study | None:
    """The study, not locked."""
    return session.get(Study, study_id)


def by_key(session: Session, project_id: UUID, key: str) -> Study | None:
    """The study with this idempotency key, after waiting for concurrent submissions."""
    session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(f"study/{project_id}/{key}", 0))))
    return session.scalar(select(Study).where(Study.project_id == project_id, Study.idempotency_key == key))


def listing(
    session: Session, project_id: UUID, *, cursor: str | None, limit: int, order: SortOrder | None = None
) -> CursorPage[Study]:
    """Studies, newest first or in another order."""
    query = select(Study).where(Study.project_id == project_id)
    return sorted_page(session, query, Study.id, ORDER, order=order, cursor=cursor, limit=limit)


def runs(session: Session, study_id: UUID) -> Sequence[AnyRow]:
    """(Run, AgentConfiguration) of the study's runs in the order of its cells, the base cell first."""
    query = (
        select(Run, AgentConfiguration)
        .join(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id)
        .where(Run.study_id == study_id)
    )
    return session.execute(query.order_by(Run.id)).all()


def actor(session: Session, study: Study) -> str:
    """The actor who submitted the study."""
    return session.scalars(select(Actor.name).where(Actor.id == study.actor_id)).one()


def progress(session: Session, study_ids: Sequence[UUID]) -> Sequence[AnyRow]:
    """(study, state, episodes)."""
    query = (
        select(Run.study_id.label("study"), Episode.state, func.count().label("n"))
        .join(Episode, Episode.run_id == Run.id)
        .where(Run.study_id.in_(study_ids))
        .group_by(Run.study_id, Episode.state)
    )
    return session.execute(query).all()


def agents(session: Session, study_ids: Sequence[UUID]) -> Sequence[AnyRow]:
    """(study, agent, cells)."""
    query = (
        select(Run.study_id.label("study"), AgentConfiguration.name, func.count().label("n"))
        .join(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id)
        .where(Run.study_id.in_(study_ids))
        .group_by(Run.study_id, AgentConfiguration.name)
        .order_by(AgentConfiguration.name)
    )
    return session.execute(query).all()


def facts(session: Session, study_id: UUID) -> Sequence[AnyRow]:
    """Every episode of a study.

    Returns:
        (run, task, repeat, state, failure class, ended by, score, steps, mixed, measures, labels) of each.
    """
    measures = (
        select(func.jsonb_object_agg(Measure.name, Measure.value))
        .join(Evaluation, Evaluation.id == Measure.evaluation_id)
        .join(Attempt, Attempt.id == Evaluation.attempt_id)
        .where(Attempt.episode_id == Episode.id, Attempt.state == "scored", Evaluation.current)
        .scalar_subquery()
    )
    columns: tuple[Any, ...] = (
        Episode.run_id,
        (Task.domain + "/" + Task.name).label("task"),
        Episode.repeat_index,
        Episode.state,
        Episode.failure_class,
        Episode.ended_by,
        Episode.score,
        Episode.steps,
        Episode.human_assisted,
        func.coalesce(measures, cast({}, JSONB)),
        func.coalesce(Task.spec["labels"]["extra"], cast({}, JSONB)),
    )
    query = select(*columns).join(Run, Run.id == Episode.run_id).join(Task, Task.id == Episode.task_id)
    return session.execute(query.where(Run.study_id == study_id, ~in_quarantine(Episode.task_id))).all()
