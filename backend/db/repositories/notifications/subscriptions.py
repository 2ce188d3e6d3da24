"""Subscriptions, and what was delivered to them."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Session

from backend.db.models import Delivery, Subscription
from backend.db.models.enums import DeliveryState
from backend.db.repositories.pagination import CursorPage, page

_WAITING = Delivery.state == DeliveryState.WAITING.value


def listing(session: Session, project_id: UUID) -> Sequence[Subscription]:
    """A project's subscriptions, the oldest first."""
    query = select(Subscription).where(Subscription.project_id == project_id)
    return session.scalars(query.order_by(Subscription.id)).all()


def get(session: Session, subscription_id: UUID, project_id: UUID, *, lock: bool = False) -> Subscription | None:
    """A subscription of a project."""
    query = select(Subscription).where(Subscription.id == subscription_id, Subscription.project_id == project_id)
    return session.scalar(query.with_for_update() if lock else query)


def remove(session: Session, subscription_id: UUID) -> None:
    """Removes a subscription with its deliveries."""
    session.execute(delete(Delivery).where(Delivery.subscription_id == subscription_id))
    session.execute(delete(Subscription).where(Subscription.id == subscription_id))


def deliveries(
    session: Session, project_id: UUID, subscription_id: UUID | None, *, cursor: str | None, limit: int
) -> CursorPage[Delivery]:
    """Deliveries of a project, or to one of its subscriptions, the newest first."""
    query = select(Delivery).join(Subscription, Subscription.id == Delivery.subscription_id)
    query = query.where(Subscription.project_id == project_id)
    if subscription_id is not None:
        query = query.where(Subscription.id == subscription_id)
    return page(session, query, Delivery.id, cursor=cursor, limit=limit, newest_first=True)


def delivery(session: Session, delivery_id: UUID, project_id: UUID, *, lock: bool = False) -> Delivery | None:
    """A delivery of a project."""
    query = select(Delivery).join(Subscription, Subscription.id == Delivery.subscription_id)
    query = query.where(Delivery.id == delivery_id, Subscription.project_id == project_id)
    return session.scalar(query.with_for_update(of=Delivery) if lock else query)


def claim_due(session: Session, until: datetime, limit: int) -> list[tuple[Delivery, Subscription]]:
    """Claims due deliveries until `until`, at most one per subscription, and counts the try."""
    due = select(Delivery.id).where(_WAITING, Delivery.next_at <= func.now()).ext(distinct_on(Delivery.subscription_id))
    first = due.order_by(Delivery.subscription_id, Delivery.next_at, Delivery.id).subquery()
    query = (
        select(Delivery, Subscription)
        .join(Subscription, Subscription.id == Delivery.subscription_id)
        .where(Delivery.id.in_(select(first.c.id)), _WAITING, Delivery.next_at <= func.now())
        .order_by(Delivery.next_at)
        .limit(limit)
    )
    rows = [(row[0], row[1]) for row in session.execute(query.with_for_update(of=Delivery, skip_locked=True))]
    for row, _ in rows:
        row.tries += 1
        row.next_at = until
    return rows


def lock_for_result(session: Session, delivery_id: UUID) -> tuple[Delivery, Subscription] | None:
    """A delivery and its subscription, locked; None: the subscription was removed meanwhile."""
    query = select(Subscription).join(Delivery, Delivery.subscription_id == Subscription.id)
    subscription = session.scalar(query.where(Delivery.id == delivery_id).with_for_update(of=Subscription))
    row = session.scalar(select(Delivery).where(Delivery.id == delivery_id).with_for_update())
    return None if row is None or subscription is None else (row, subscription)


def give_up_waiting(session: Session, subscription_id: UUID) -> int:
    """Ends all waiting deliveries to a subscription as failed. Returns their number."""
    query = update(Delivery).where(Delivery.subscription_id == subscription_id, _WAITING)
    query = query.values(state=DeliveryState.FAILED.value, finished_at=func.now())
    return int(getattr(session.execute(query), "rowcount", 0))
