"""Roll-ups of all passes of a configuration: the runs that they pool, and stored rows."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from backend.db.models import Attempt, Episode, PassRollup, Run
from backend.db.models.enums import RANKED_PURPOSES
from backend.db.repositories.common_queries import AnyRow


def on_boards() -> ColumnElement[bool]:
    """Runs that enter a leaderboard. Cells of a study do not; they are compared with their base cell only."""
    return Run.purpose.in_(RANKED_PURPOSES) & Run.study_id.is_(None) & Run.deleted_at.is_(None)


def same_configuration(session: Session, run_id: UUID) -> Sequence[AnyRow]:
    """(id, task_set_id, agent_configuration_id, config) of a run and of the others of its configuration on its tasks.

    Oldest first; empty if the run enters no leaderboard.
    """
    own = select(Run.task_set_id, Run.agent_configuration_id).where(Run.id == run_id, on_boards()).subquery()
    query = (
        select(Run.id, Run.task_set_id, Run.agent_configuration_id, Run.config)
        .join(
            own,
            (own.c.task_set_id == Run.task_set_id) & (own.c.agent_configuration_id == Run.agent_configuration_id),
        )
        .where(on_boards())
    )
    return session.execute(query.order_by(Run.id)).all()


def episode_facts(session: Session, run_ids: Sequence[UUID], desktop_end: str) -> AnyRow:
    """Facts of a row's episodes other than scores.

    Args:
        session: the transaction.
        run_ids: their runs.
        desktop_end: key of the attempt's desktop that tells of the end.

    Returns:
        (ended_desktops, flagged): episodes whose desktop was ended from inside, and whose loss nothing explains.
    """
    episodes = func.count(Episode.id.distinct())
    query = select(
        episodes.filter(Attempt.desktop.has_key(desktop_end)).label("ended_desktops"),
        episodes.filter(Episode.flagged).label("flagged"),
    ).outerjoin(Attempt, (Attempt.episode_id == Episode.id) & (Attempt.state == "scored"))
    return session.execute(query.select_from(Episode).where(Episode.run_id.in_(run_ids))).one()


def replace(session: Session, values: Mapping[str, Any]) -> None:
    """Stores a row, unless a newer one is stored."""
    query = insert(PassRollup).values(dict(values))
    key = [column.name for column in PassRollup.__table__.primary_key]
    update = {name: query.excluded[name] for name in values if name not in key}
    newer = PassRollup.as_of <= query.excluded.as_of
    session.execute(query.on_conflict_do_update(index_elements=key, set_=update, where=newer))


def of_task_set(session: Session, task_set_id: UUID) -> Sequence[PassRollup]:
    """Rows of all configurations and conditions on these tasks."""
    return session.scalars(select(PassRollup).where(PassRollup.task_set_id == task_set_id)).all()
