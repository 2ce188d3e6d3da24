"""Subscriptions to a project's notifications."""

import base64
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from sqlalchemy.orm import Session

from backend.config import Settings
from backend.db.models import Project, Subscription
from backend.db.models.enums import NotificationType, Role, SubscriptionKind
from backend.db.repositories.capacity import workers
from backend.db.repositories.notifications import outbox
from backend.db.repositories.notifications import subscriptions as repository
from backend.domain.errors import Conflict, Invalid, NotFound
from backend.services.accounts import audit
from backend.services.accounts.principal import principal_of
from backend.services.accounts.projects import default_project
from backend.services.notifications.addresses import checked_email, checked_webhook
from backend.services.notifications.read_models import CreatedSubscription, SubscriptionView

MOST_SUBSCRIPTIONS = 100
SECRET_BYTES = 32
ROTATION = timedelta(days=1)
"""How long the secret before a rotation signs, too."""
ALPHA, LOSS_BOUND = 0.05, 0.05
TYPES = tuple(
    notification_type for notification_type in NotificationType if notification_type is not NotificationType.TEST
)
_FIELDS = ("events", "loss_bound", "alpha", "baseline_run_id")


@dataclass(frozen=True)
class Transports:
    """Ways in which this installation can send notifications.

    Attributes:
        private_hosts: hosts of the private network to which webhooks may be sent.
        email: whether an SMTP server is set.
    """

    private_hosts: tuple[str, ...]
    email: bool

    @classmethod
    def from_settings(cls, settings: Settings) -> "Transports":
        """Those of the settings."""
        return cls(settings.webhook_private_hosts, bool(settings.smtp_host))


def create(  # noqa: PLR0913 - a subscription's fields
    session: Session,
    transports: Transports,
    *,
    kind: SubscriptionKind,
    address: str,
    events: Collection[NotificationType],
    loss_bound: float = LOSS_BOUND,
    alpha: float = ALPHA,
    baseline_run_id: UUID | None = None,
) -> CreatedSubscription:
    """Creates a subscription. The answer has a webhook's secret, which is not shown again.

    Raises:
        NotAllowed: the role is below a maintainer's.
        Invalid: a field.
        Conflict: no SMTP server is set; or there are too many, or there is the same.
    """
    project, principal = _require(session)
    if kind is SubscriptionKind.EMAIL and not transports.email:
        raise Conflict(
            "this installation sends no e-mail", code="email_not_configured", hint="Set DESKARENA_SMTP_HOST."
        )
    is_hook = kind is SubscriptionKind.WEBHOOK
    address = checked_webhook(address, transports.private_hosts) if is_hook else checked_email(address)
    others = repository.listing(session, project.id)
    if len(others) >= MOST_SUBSCRIPTIONS or any((row.kind, row.address) == (kind, address) for row in others):
        raise Conflict(
            f"the project already has this subscription, or the maximum of {MOST_SUBSCRIPTIONS} is reached",
            code="subscription_exists",
        )
    values = {"events": events, "loss_bound": loss_bound, "alpha": alpha, "baseline_run_id": baseline_run_id}
    row = Subscription(
        project_id=project.id,
        kind=kind,
        address=address,
        secret=_new_secret() if is_hook else None,
        created_by=principal,
        **_check(session, project.id, values),
    )
    session.add(row)
    session.flush()  # The view has its id.
    new = {"kind": [None, kind], "events": [None, row.events]}
    audit.record(session, "subscription_created", masked_address(row.kind, row.address), new)
    return _created_subscription(row)


def list_subscriptions(session: Session) -> list[SubscriptionView]:
    """The project's subscriptions, the oldest first. Raises NotAllowed below a maintainer's role."""
    project, _ = _require(session)
    return [_view(row) for row in repository.listing(session, project.id)]


def get_subscription(session: Session, subscription_id: UUID, *, lock: bool = False) -> SubscriptionView:
    """A subscription. Raises NotFound, NotAllowed."""
    return _view(_get(session, subscription_id, lock=lock))


def change(session: Session, subscription_id: UUID, changes: Mapping[str, Any]) -> SubscriptionView:
    """Changes events and bounds, disables it, or enables it again; what is left out stays.

    Args:
        session: the transaction.
        subscription_id: which one.
        changes: of `events`, `loss_bound`, `alpha`, `baseline_run_id`, `enabled`.

    Raises:
        NotFound: the project has no such subscription.
        NotAllowed: the role is below a maintainer's.
        Invalid: a field.
    """
    row = _get(session, subscription_id, lock=True)
    before = {name: getattr(row, name) for name in _FIELDS} | {"enabled": row.disabled_at is None}
    fields = _check(session, row.project_id, {name: changes[name] for name in _FIELDS if name in changes})
    for name, value in fields.items():
        setattr(row, name, value)
    enabled = changes.get("enabled")
    if enabled is not None and enabled != before["enabled"]:
        row.disabled_at, row.disabled_reason = None if enabled else workers.now(session), ""
        if not enabled:
            repository.give_up_waiting(session, row.id)
        fields["enabled"] = enabled
    differences = audit.differences(before, fields)
    audit_fields = {
        name: [value if isinstance(value, list | float | bool | None) else str(value) for value in pair]
        for name, pair in differences.items()
    }
    audit.record(session, "subscription_changed", masked_address(row.kind, row.address), audit_fields)
    session.flush()
    return _view(row)


def rotate_secret(session: Session, subscription_id: UUID) -> CreatedSubscription:
    """A new secret, in the answer only. The one before signs, too, for a day.

    Raises:
        NotFound, NotAllowed: as `change`.
        Conflict: e-mail has no secret.
    """
    row = _get(session, subscription_id, lock=True)
    if row.secret is None:
        raise Conflict("e-mail is not signed: there is no secret", code="subscription_without_secret")
    row.previous_secret, row.previous_until = row.secret, workers.now(session) + ROTATION
    row.secret = _new_secret()
    audit.record(session, "webhook_secret_rotated", masked_address(row.kind, row.address))
    session.flush()
    return _created_subscription(row)


def remove(session: Session, subscription_id: UUID) -> None:
    """Removes a subscription with its deliveries. Raises NotFound, NotAllowed."""
    row = _get(session, subscription_id, lock=True)
    audit.record(session, "subscription_deleted", masked_address(row.kind, row.address))
    repository.remove(session, row.id)


def masked_address(kind: str, address: str) -> str:
    """Host of a webhook, whose path may be a secret; an e-mail address as it is."""
    return (urlsplit(address).hostname or "") if kind == SubscriptionKind.WEBHOOK else address


def require_maintainer(session: Session) -> UUID:
    """Id of the project. Raises NotAllowed below a maintainer's role: addresses of webhooks may be secrets."""
    return _require(session)[0].id


def _require(session: Session) -> tuple[Project, str]:
    principal = principal_of(session)
    principal.require(Role.MAINTAINER)
    return default_project(session), principal.name


def _get(session: Session, subscription_id: UUID, *, lock: bool = False) -> Subscription:
    project, _ = _require(session)
    row = repository.get(session, subscription_id, project.id, lock=lock)
    if row is None:
        raise NotFound("there is no such subscription", code="subscription_not_found")
    return row


def _check(session: Session, project_id: UUID, values: Mapping[str, Any]) -> dict[str, Any]:
    """Fields as they are stored. Raises Invalid."""
    fields = dict(values)
    if "events" in fields:
        events = [notification_type.value for notification_type in TYPES if notification_type in set(fields["events"])]
        if not events:
            raise Invalid("choose at least one event", code="invalid_request", path="events")
        fields["events"] = events
    if not 0 <= fields.get("loss_bound", LOSS_BOUND) <= 1:
        raise Invalid("expected a share from 0 to 1", code="invalid_request", path="loss_bound")
    if not 0 < fields.get("alpha", ALPHA) < 1:
        raise Invalid("expected a number between 0 and 1", code="invalid_request", path="alpha")
    baseline = fields.get("baseline_run_id")
    if baseline is not None and outbox.baseline(session, baseline, project_id) is None:
        raise Invalid(
            "the project has no such run, or it is not measured", code="invalid_request", path="baseline_run_id"
        )
    return fields


def _new_secret() -> str:
    """As in the Standard Webhooks specification: `whsec_` and base64."""
    return f"whsec_{base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()}"


def _view(row: Subscription) -> SubscriptionView:
    return SubscriptionView.model_validate(row)


def _created_subscription(row: Subscription) -> CreatedSubscription:
    return CreatedSubscription.model_validate(row)
