"""Deliveries: what was sent to a subscription, tried again on request, or as a test."""

from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Delivery
from backend.db.models.enums import DeliveryState, NotificationType
from backend.db.repositories.capacity import workers
from backend.db.repositories.notifications import outbox
from backend.db.repositories.notifications import subscriptions as repository
from backend.db.repositories.pagination import CursorPage
from backend.domain.errors import Conflict, NotFound
from backend.services.accounts import audit
from backend.services.notifications.read_models import DeliveryView
from backend.services.notifications.subscriptions import get_subscription, masked_address, require_maintainer


def list_deliveries(
    session: Session, subscription_id: UUID | None, cursor: str | None, limit: int
) -> CursorPage[DeliveryView]:
    """Deliveries of the last 30 days, the newest first. Raises NotAllowed below a maintainer's role."""
    page = repository.deliveries(session, require_maintainer(session), subscription_id, cursor=cursor, limit=limit)
    return CursorPage([_view(row) for row in page.items], page.next)


def get_delivery(session: Session, delivery_id: UUID) -> DeliveryView:
    """A delivery. Raises NotFound, NotAllowed."""
    row = repository.delivery(session, delivery_id, require_maintainer(session))
    if row is None:
        raise NotFound("there is no such delivery", code="delivery_not_found")
    return _view(row)


def redeliver(session: Session, delivery_id: UUID) -> DeliveryView:
    """Sends an ended delivery again, with the same id, and retries it as if it were new.

    Raises:
        NotFound: the project has no such delivery.
        NotAllowed: the role is below a maintainer's.
        Conflict: it waits already, or its subscription is disabled.
    """
    project_id = require_maintainer(session)
    row = repository.delivery(session, delivery_id, project_id, lock=True)
    if row is None:
        raise NotFound("there is no such delivery", code="delivery_not_found")
    if row.state == DeliveryState.WAITING:
        raise Conflict("it is already waiting to be sent", code="delivery_waits")
    subscription = get_subscription(session, row.subscription_id)
    _refuse_disabled(subscription.disabled_at is not None)
    now = workers.now(session)
    row.state, row.tries, row.finished_at = DeliveryState.WAITING.value, 0, None
    row.next_at = row.scheduled_at = now
    audit.record(session, "delivery_requested", masked_address(subscription.kind, subscription.address))
    session.flush()
    return _view(row)


def send_test(session: Session, subscription_id: UUID) -> DeliveryView:
    """Sends a test to a subscription. Raises NotFound, NotAllowed, and Conflict if it is disabled."""
    subscription = get_subscription(session, subscription_id)
    _refuse_disabled(subscription.disabled_at is not None)
    notification = outbox.add(session, NotificationType.TEST, require_maintainer(session), subscription_id)
    notification.prepared_at = now = workers.now(session)
    data = {"text": "This is a test of a subscription to notifications of Deskarena."}
    row = Delivery(
        subscription_id=subscription_id,
        notification_id=notification.id,
        occasion=str(notification.id),
        type=NotificationType.TEST,
        payload={"type": NotificationType.TEST.value, "timestamp": now.isoformat(), "data": data},
    )
    session.add(row)
    audit.record(session, "subscription_tested", masked_address(subscription.kind, subscription.address))
    session.flush()
    return _view(row)


def _refuse_disabled(disabled: bool) -> None:  # noqa: FBT001 - what was found
    if disabled:
        raise Conflict("the subscription is disabled", code="subscription_disabled", hint="Enable it first.")


def _view(row: Delivery) -> DeliveryView:
    view = DeliveryView.model_validate(row)
    return view if row.state == DeliveryState.WAITING else view.model_copy(update={"next_at": None})
