"""Subscriptions to a project's notifications."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import enums
from backend.db.models.base import Base, Created, Id, JsonList, ref
from backend.db.types import one_of


class Subscription(Base):
    """Sends a project's notifications of the types in `events` to a webhook or an e-mail address.

    `loss_bound` is a share of a run's episodes (0 to 1). `baseline_run_id`: the run that others are compared with;
    None: the configuration's preceding one. `secret` signs webhooks, so it is stored as it is; `previous_secret` signs
    too until `previous_until`. `succeeded_at`: when something last arrived. `disabled_reason`: empty if a person
    disabled it.
    """

    __tablename__ = "subscription"
    __table_args__ = (
        one_of("kind", enums.SubscriptionKind),
        CheckConstraint("loss_bound >= 0 AND loss_bound <= 1", name="loss_bound"),
        CheckConstraint("alpha > 0 AND alpha < 1", name="alpha"),
        CheckConstraint("(kind = 'webhook') = (secret IS NOT NULL)", name="secret"),
    )

    id: Mapped[Id]
    project_id: Mapped[UUID] = mapped_column(ref("project"), index=True)
    kind: Mapped[str]
    address: Mapped[str]
    events: Mapped[JsonList]
    loss_bound: Mapped[float]
    alpha: Mapped[float]
    baseline_run_id: Mapped[UUID | None]
    secret: Mapped[str | None]
    previous_secret: Mapped[str | None]
    previous_until: Mapped[datetime | None]
    created_by: Mapped[str]
    created_at: Mapped[Created]
    succeeded_at: Mapped[datetime | None]
    disabled_at: Mapped[datetime | None]
    disabled_reason: Mapped[str] = mapped_column(default="", server_default="")
