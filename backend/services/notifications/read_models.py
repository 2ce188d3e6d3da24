"""Read models of subscriptions and deliveries."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from backend.db.models.enums import DeliveryState, NotificationType, SubscriptionKind
from backend.services.read_model import ReadModel


class SubscriptionSettings(ReadModel):
    """Editable fields of a subscription."""

    events: list[NotificationType]
    loss_bound: float = Field(description="Share of lost episodes above which `run.losses` is sent.", examples=[0.05])
    alpha: float = Field(description="Probability of a false alarm of `run.regression`.", examples=[0.05])
    baseline_run_id: UUID | None = Field(
        description="Run that others are compared with; null: the preceding one of the same configuration."
    )


class SubscriptionView(SubscriptionSettings):
    """A subscription to the project's notifications."""

    id: UUID
    kind: SubscriptionKind
    address: str = Field(examples=["https://ci.example.org/deskarena"])
    created_by: str
    created_at: datetime
    succeeded_at: datetime | None = Field(description="When something last arrived.")
    previous_until: datetime | None = Field(description="Until when the secret before the last rotation signs, too.")
    disabled_at: datetime | None
    disabled_reason: str = Field(description="Why it was disabled; empty: by a person.")


class CreatedSubscription(SubscriptionView):
    """A new subscription, or one with a new secret."""

    secret: str | None = Field(
        description="Secret with which a receiver verifies webhooks. Only in this answer; null for e-mail.",
        examples=["whsec_bm90IGEgc2VjcmV0"],
    )


class DeliveryAttempt(ReadModel):
    """One attempt to deliver."""

    at: datetime
    status: int | None = Field(description="Of the answer; null without one, and for e-mail.")
    answer: str = Field(description="First characters of the answer.")
    error: str = Field(description="Why it did not arrive; empty: it did.")
    seconds: float


class DeliveryView(ReadModel):
    """A message, sent or due."""

    id: UUID
    subscription_id: UUID
    type: NotificationType
    state: DeliveryState
    payload: dict[str, Any]
    tries: int = Field(description="Since it was made, or was last requested again.")
    next_at: datetime | None = Field(description="When it is tried next; null: it has ended.")
    attempts: list[DeliveryAttempt] = Field(description="The newest 20, the oldest of them first.")
    created_at: datetime
    finished_at: datetime | None
