"""Subscriptions to notifications, by webhook or e-mail, and their deliveries."""

from typing import Annotated
from uuid import UUID

from fastapi import Query, Request, Response
from pydantic import Field

from backend.addresses import API
from backend.db.models.enums import NotificationType, SubscriptionKind
from backend.services.notifications import deliveries, subscriptions
from backend.services.notifications.read_models import CreatedSubscription, DeliveryView, SubscriptionView
from backend.services.notifications.subscriptions import ALPHA, LOSS_BOUND, Transports
from backend.web.api_common import Cursor, Id, Limit, Page, RequestModel, api_router, next_page_url
from backend.web.dependencies import EdgeDep, SessionDep
from backend.web.preconditions import EDITED, IfMatch, check_match, tagged

router = api_router("notifications")
Share = Annotated[float, Field(ge=0, le=1)]
Probability = Annotated[float, Field(gt=0, lt=1)]


class SubscriptionBody(RequestModel):
    """A new subscription."""

    kind: SubscriptionKind = SubscriptionKind.WEBHOOK
    address: str = Field(min_length=1, max_length=2000, examples=["https://ci.example.org/deskarena"])
    events: list[NotificationType] = Field(
        min_length=1,
        max_length=10,
        description="Events that it is notified of.",
        examples=[["run.ended", "run.regression"]],
    )
    loss_bound: Share = Field(default=LOSS_BOUND, description="Share of lost episodes above which to notify.")
    alpha: Probability = Field(default=ALPHA, description="Probability of a false alarm of a regression.")
    baseline_run_id: UUID | None = Field(
        default=None, description="Run to compare with; null: the preceding one of the same configuration."
    )


class SubscriptionChanges(RequestModel):
    """Changes of a subscription; omitted fields stay."""

    events: list[NotificationType] | None = Field(default=None, min_length=1, max_length=10)
    loss_bound: Share | None = None
    alpha: Probability | None = None
    baseline_run_id: UUID | None = None
    enabled: bool | None = Field(
        default=None, description="False drops waiting deliveries; true also enables a failed subscription."
    )


@router.get("/subscriptions")
def list_subscriptions(session: SessionDep) -> Page[SubscriptionView]:
    """List who is told what of the project. Needs a maintainer: addresses of webhooks may be secrets."""
    return Page[SubscriptionView](items=subscriptions.list_subscriptions(session))


@router.post("/subscriptions", status_code=201)
def create_subscription(
    session: SessionDep, edge: EdgeDep, body: SubscriptionBody, response: Response
) -> CreatedSubscription:
    """Tell a webhook or an e-mail address of what happens in the project. The secret is in this answer only."""
    response.headers["Cache-Control"] = "no-store"
    return subscriptions.create(session, Transports.from_settings(edge.settings), **dict(body))


@router.get("/subscriptions/{subscription_id}")
def get_subscription(session: SessionDep, subscription_id: Id) -> SubscriptionView:
    """Show a subscription."""
    return subscriptions.get_subscription(session, subscription_id)


@router.patch("/subscriptions/{subscription_id}", responses=EDITED)
def change_subscription(
    session: SessionDep, subscription_id: Id, body: SubscriptionChanges, response: Response, if_match: IfMatch = None
) -> SubscriptionView:
    """Change the events of a subscription, disable it, or enable it again."""
    check_match(if_match, lambda: subscriptions.get_subscription(session, subscription_id, lock=True))
    changes = body.model_dump(exclude_unset=True)
    fields = {name: value for name, value in changes.items() if value is not None or name == "baseline_run_id"}
    return tagged(response, subscriptions.change(session, subscription_id, fields))


@router.delete("/subscriptions/{subscription_id}", status_code=204)
def delete_subscription(session: SessionDep, subscription_id: Id) -> None:
    """Delete a subscription with its deliveries."""
    subscriptions.remove(session, subscription_id)


@router.post("/subscriptions/{subscription_id}/rotate-secret")
def rotate_secret(session: SessionDep, subscription_id: Id, response: Response) -> CreatedSubscription:
    """Replace the secret of a webhook. The one before signs, too, for a day."""
    response.headers["Cache-Control"] = "no-store"
    return subscriptions.rotate_secret(session, subscription_id)


@router.post("/subscriptions/{subscription_id}/test", status_code=202)
def test_subscription(session: SessionDep, subscription_id: Id, response: Response) -> DeliveryView:
    """Send a test. The delivery says how it went."""
    delivery = deliveries.send_test(session, subscription_id)
    response.headers["Location"] = f"{API}/deliveries/{delivery.id}"
    return delivery


@router.get("/deliveries")
def list_deliveries(
    request: Request,
    session: SessionDep,
    subscription: Annotated[UUID | None, Query(description="Of one subscription.")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[DeliveryView]:
    """List deliveries of the last 30 days, newest first."""
    page = deliveries.list_deliveries(session, subscription, cursor, limit)
    return Page[DeliveryView](items=page.items, next=next_page_url(request, page.next))


@router.get("/deliveries/{delivery_id}")
def get_delivery(session: SessionDep, delivery_id: Id) -> DeliveryView:
    """Show a delivery with its newest attempts."""
    return deliveries.get_delivery(session, delivery_id)


@router.post("/deliveries/{delivery_id}/redeliver", status_code=202)
def redeliver(session: SessionDep, delivery_id: Id) -> DeliveryView:
    """Send an ended delivery again, with the same id."""
    return deliveries.redeliver(session, delivery_id)
