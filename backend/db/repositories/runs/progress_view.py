"""Results of tasks' parts in whole runs."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Row, select, text
from sqlalchemy.orm import Session

from backend.db.models import AgentConfiguration, Evaluation, Run
from backend.db.repositories.common_queries import NOT_QUARANTINED, AnyRow
from backend.domain.model.score import SOLVED_TOLERANCE

_COUNTED = """
    FROM episode e
    JOIN attempt a ON a.episode_id = e.id AND a.state = 'scored'
    JOIN evaluation v ON v.attempt_id = a.id AND v.current
"""
_WHERE = f"WHERE e.run_id = :run AND e.state = 'scored' AND NOT e.human_assisted AND {NOT_QUARANTINED}"
# Assertions are listed with the checkpoints but are not. A part evaluated only at the end counts with the last step.
_GOT = text(f"""
    SELECT count(*) AS listed, e.score,
        array_agg(coalesce((p ->> 'step')::int, e.steps)) FILTER (WHERE (p ->> 'value')::float >= :reached) AS steps
    {_COUNTED} CROSS JOIN jsonb_array_elements(v.parts) p {_WHERE} AND p ->> 'kind' <> 'assertion' GROUP BY e.id
""")  # noqa: S608 - fixed words
_PARTS = text(f"""
    SELECT t.domain || '/' || t.name AS task, e.repeat_index, e.id AS episode, p AS part
    {_COUNTED} JOIN task t ON t.id = e.task_id
    CROSS JOIN jsonb_array_elements(v.parts) WITH ORDINALITY o(p, position) {_WHERE}
    ORDER BY task, e.repeat_index, position
""")  # noqa: S608 - same


def progress_rows(session: Session, run_id: UUID) -> Sequence[Row[Any]]:
    """(parts listed, score, steps at which they were reached or None) of every counted episode with parts."""
    return session.execute(_GOT, {"run": run_id, "reached": 1.0 - SOLVED_TOLERANCE}).all()


def parts(session: Session, run_id: UUID) -> Sequence[Row[Any]]:
    """(task, repeat, episode, part as JSON) of every part of a run."""
    return session.execute(_PARTS, {"run": run_id}).all()


def current_evaluation(session: Session, attempt_id: UUID) -> Evaluation | None:
    """The current evaluation of an attempt."""
    return session.scalar(select(Evaluation).where(Evaluation.attempt_id == attempt_id, Evaluation.current))


def configuration_names(session: Session, run_ids: Sequence[UUID]) -> Sequence[AnyRow]:
    """(Run, its configuration's name) of these runs."""
    query = select(Run, AgentConfiguration.title).join(
        AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id
    )
    return session.execute(query.where(Run.id.in_(run_ids))).all()


def beside(session: Session, run: Run, limit: int) -> Sequence[AnyRow]:
    """(Run, its configuration's name) of other runs on the same task set, newest first."""
    query = select(Run, AgentConfiguration.title).join(
        AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id
    )
    query = query.where(Run.task_set_id == run.task_set_id, Run.id != run.id)
    return session.execute(query.order_by(Run.id.desc()).limit(limit)).all()
