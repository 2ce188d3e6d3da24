"""Makes deliveries of notifications, each in one transaction."""

import logging
from collections.abc import Callable, Sequence
from datetime import timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Delivery, Notification, Subscription
from backend.db.models.enums import NotificationType, SubscriptionKind
from backend.db.repositories.capacity import workers
from backend.db.repositories.notifications import outbox as repository
from backend.db.session import SessionFactory, unit_of_work
from backend.domain.errors import Unavailable

KEEP_FOR = timedelta(days=30)
"""How long ended deliveries are listed."""
GIVEN_UP = timedelta(hours=1)
"""Age at which a notification whose payload cannot be made is given up."""
BATCH = 1000
logger = logging.getLogger(__name__)

Describe = Callable[[Session, Notification, Sequence[Subscription]], "dict[UUID, dict[str, object]]"]


def prepare_due(factory: SessionFactory, describe: Describe) -> int:
    """Makes deliveries of all notifications that have none yet. Safe to call from several processes at once.

    Args:
        factory: of transactions.
        describe: returns the payload of each of these subscriptions that is notified.

    Returns:
        The number of deliveries.
    """
    total, after = 0, None
    while True:
        with unit_of_work(factory) as session:
            notification = repository.claim(session, after)
            if notification is None:
                return total
            after = notification.id
            try:
                with session.begin_nested():
                    total += _prepare(session, notification, describe)
            except Unavailable:
                raise
            except Exception:
                logger.exception("notification %s cannot be described", after)
                if workers.now(session) - notification.created_at > GIVEN_UP:
                    notification.prepared_at = workers.now(session)


def _prepare(session: Session, notification: Notification, describe: Describe) -> int:
    rows = repository.subscriptions(session, notification.project_id, notification.type)
    occasion = str(notification.id)
    if notification.type == NotificationType.RUN_LOSSES:
        occasion = f"losses of {notification.subject_id}"
        rows = [row for row in rows if not repository.has_delivery(session, row.id, occasion)]
    rows = [row for row in rows if _may_read(session, row)]
    payloads = describe(session, notification, rows) if rows else {}
    for subscription_id, payload in payloads.items():
        session.add(
            Delivery(
                subscription_id=subscription_id,
                notification_id=notification.id,
                occasion=occasion,
                type=notification.type,
                payload=dict(payload),
            )
        )
    notification.prepared_at = workers.now(session)
    session.flush()
    return len(payloads)


def _may_read(session: Session, row: Subscription) -> bool:
    """Whether the subscription may be told: e-mail does not go to an account that has left the project."""
    return row.kind != SubscriptionKind.EMAIL or repository.may_read(session, row.address, row.project_id)


def prune(factory: SessionFactory) -> int:
    """Removes deliveries that ended long ago, with their notifications. Returns the number of rows."""
    total = 0
    while True:
        with unit_of_work(factory) as session:
            number = repository.prune(session, workers.now(session) - KEEP_FOR, BATCH)
        total += number
        if number < BATCH:
            return total
