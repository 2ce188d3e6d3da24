"""Events that subscriptions are notified of."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import enums
from backend.db.models.base import Base, Created, Id, Json, ref
from backend.db.types import one_of


class Notification(Base):
    """Something that a subscription of the project may be about, written in the transaction in which it happened.

    `subject_id`: the run or worker. `prepared_at`: its deliveries were made, if anybody is to be told.
    """

    __tablename__ = "notification"
    __table_args__ = (
        one_of("type", enums.NotificationType),
        Index("ix_notification_waiting", "id", postgresql_where=text("prepared_at IS NULL")),
        Index("ix_notification_project_id", "project_id"),
    )

    id: Mapped[Id]
    project_id: Mapped[UUID] = mapped_column(ref("project"))
    type: Mapped[str]
    subject_id: Mapped[UUID]
    data: Mapped[Json] = mapped_column(default=dict)
    created_at: Mapped[Created]
    prepared_at: Mapped[datetime | None]
