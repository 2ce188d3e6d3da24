"""Scored episodes of runs for WindowsWorld's analyses."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Float, Integer, Row, and_, func, select
from sqlalchemy.orm import Session, aliased

from backend.db.models import Attempt, Episode, Evaluation, Measure, Task
from backend.db.repositories.common_queries import in_quarantine
from backend.domain.model.episode import AttemptState, EpisodeState


def episodes(session: Session, run_ids: Sequence[UUID]) -> Sequence[Row[Any]]:
    """Rows (run_id, task, level, persona, apps, steps, solved, s_int, listed, s_final, agent_seconds), by run and task.

    Episodes with a person's help are left out, as on leaderboards.
    """
    s_int, s_final = aliased(Measure), aliased(Measure)
    extra = Task.spec["labels"]["extra"]
    query = (
        select(
            Episode.run_id,
            (Task.domain + "/" + Task.name).label("task"),
            func.coalesce(Task.level, "").label("level"),
            func.coalesce(extra["persona"].astext, Task.domain).label("persona"),
            func.jsonb_array_length(Task.apps).label("apps"),
            Episode.steps,
            Episode.solved,
            s_int.value.label("s_int"),
            func.coalesce(extra["checkpoints"].astext.cast(Integer), 0).label("listed"),
            s_final.value.label("s_final"),
            func.coalesce(Attempt.seconds["agent"].astext.cast(Float), 0.0).label("agent_seconds"),
        )
        .join(Task, Task.id == Episode.task_id)
        .join(Attempt, and_(Attempt.episode_id == Episode.id, Attempt.state == AttemptState.SCORED))
        .join(Evaluation, and_(Evaluation.attempt_id == Attempt.id, Evaluation.current))
        .outerjoin(s_int, and_(s_int.evaluation_id == Evaluation.id, s_int.name == "S_int"))
        .outerjoin(s_final, and_(s_final.evaluation_id == Evaluation.id, s_final.name == "S_final"))
        .where(Episode.run_id.in_(run_ids), Episode.state == EpisodeState.SCORED, ~Episode.human_assisted)
        .where(~in_quarantine(Episode.task_id))
        .order_by(Episode.run_id, Task.domain, Task.name, Episode.repeat_index)
    )
    return session.execute(query).all()
