"""Use of models by endpoint."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from backend.db.models import ModelUsage
from backend.domain.model.model_usage import UsagePeriod

_KEY = ("started_at", "source", "endpoint", "model")


def put(session: Session, source: UUID, rows: Sequence[UsagePeriod]) -> None:
    """Writes rows of a process; a later version of a row replaces an earlier one."""
    for row in sorted(rows, key=lambda row: (row.started_at, row.endpoint, row.model)):
        values = {**row.model_dump(mode="python"), "source": source}
        query = insert(ModelUsage).values(values)
        changes = {name: query.excluded[name] for name in values if name not in _KEY}
        session.execute(query.on_conflict_do_update(index_elements=_KEY, set_=changes))


def since(session: Session, start: datetime) -> Sequence[ModelUsage]:
    """Rows of periods that began at or after a moment, oldest first."""
    query = select(ModelUsage).where(ModelUsage.started_at >= start)
    return session.scalars(query.order_by(ModelUsage.started_at, ModelUsage.source)).all()


def delete_before(session: Session, moment: datetime) -> None:
    """Deletes rows of older periods."""
    session.execute(delete(ModelUsage).where(ModelUsage.started_at < moment))
