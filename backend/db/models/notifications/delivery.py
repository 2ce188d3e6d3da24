"""Messages to subscriptions, with the state of their delivery."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import enums
from backend.db.models.base import Base, Created, Id, Json, JsonList, ref
from backend.db.types import one_of


class Delivery(Base):
    """One message to one subscription. Its id is that of the webhook, however often it is sent.

    `occasion` is unique for the subscription: a run's losses are told once. `payload` is what is sent. `next_at`: when
    it is sent next; while a process sends it, when another one may. `tries` counts since `scheduled_at`, when it was
    made or last requested again. `attempts` has the newest ones: `at`, `status`, `answer`, `error`, `seconds`.
    """

    __tablename__ = "delivery"
    __table_args__ = (
        one_of("state", enums.DeliveryState),
        UniqueConstraint("subscription_id", "occasion"),
        Index("ix_delivery_due", "next_at", postgresql_where=text("state = 'waiting'")),
        Index("ix_delivery_notification_id", "notification_id"),
    )

    id: Mapped[Id]
    subscription_id: Mapped[UUID] = mapped_column(ref("subscription"))
    notification_id: Mapped[UUID] = mapped_column(ref("notification"))
    occasion: Mapped[str]
    type: Mapped[str]
    payload: Mapped[Json]
    state: Mapped[str] = mapped_column(default=enums.DeliveryState.WAITING)
    tries: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    next_at: Mapped[Created]
    scheduled_at: Mapped[Created]
    attempts: Mapped[JsonList] = mapped_column(default=list, server_default=text("'[]'"))
    created_at: Mapped[Created]
    finished_at: Mapped[datetime | None]
