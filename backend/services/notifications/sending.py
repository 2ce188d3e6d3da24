"""Sends what is due, and retries with growing pauses. At least once, with the same id each time.

A delivery is claimed for a minute in its row, then sent without a transaction, then its result is written. A process
that dies in between loses nothing: after the minute another one sends it again.
"""

import json
import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session
from standardwebhooks import Webhook

from backend.db.models import Delivery, Subscription
from backend.db.models.enums import DeliveryState, SubscriptionKind
from backend.db.repositories.capacity import workers
from backend.db.repositories.notifications import subscriptions as repository
from backend.db.session import SessionFactory, unit_of_work
from backend.domain.errors import DeskarenaError
from backend.domain.formats.foreign_text import visible
from backend.services.artifacts.ssrf_safe_http import GuardedWeb
from backend.services.notifications.mailer import Mailer, MailRefused

PAUSES = (5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600)
"""Seconds after each attempt, as the Standard Webhooks specification advises: ten attempts in three days."""
CLAIMED = timedelta(seconds=60)
SECONDS = 15.0
"""Duration of one attempt at most."""
AT_ONCE = 4
ROUND_SECONDS = 60.0
ANSWER_BYTES, ERROR_LENGTH = 500, 300
MOST_ATTEMPTS = 20
LONGEST_RETRY_AFTER = 24 * 3600
GONE, TOO_MANY, UNAVAILABLE = 410, 429, 503
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Shipment:
    """A claimed delivery, as read before it is sent."""

    id: UUID
    kind: str
    address: str
    payload: Mapping[str, Any]
    secrets: tuple[str, ...]


@dataclass(frozen=True)
class SendResult:
    """How an attempt went.

    Attributes:
        error: why it did not arrive; empty: it did.
        final: no further attempt would help.
        gone: the receiver wants nothing more.
        retry_after: seconds that the receiver asks for.
    """

    status: int | None = None
    answer: str = ""
    error: str = ""
    final: bool = False
    gone: bool = False
    retry_after: int = 0


def send_due(factory: SessionFactory, web: GuardedWeb, mailer: Mailer | None) -> int:
    """Sends what is due, for a minute at most. Safe to call from several processes at once.

    Returns:
        The number of attempts.
    """
    total, until = 0, time.monotonic() + ROUND_SECONDS
    with ThreadPoolExecutor(AT_ONCE, "notifications") as threads:
        while time.monotonic() < until:
            shipments = _claim(factory)
            if not shipments:
                break
            for _ in threads.map(lambda shipment: _send(factory, shipment, web, mailer), shipments):
                total += 1
    return total


def _claim(factory: SessionFactory) -> list[Shipment]:
    with unit_of_work(factory) as session:
        now = workers.now(session)
        rows = repository.claim_due(session, now + CLAIMED, AT_ONCE)
        return [
            Shipment(row.id, subscription.kind, subscription.address, row.payload, _secrets(subscription, now))
            for row, subscription in rows
        ]


def _secrets(row: Subscription, now: datetime) -> tuple[str, ...]:
    """The secret, and the one before it within a day of the rotation."""
    rotated = row.previous_until is not None and now < row.previous_until
    return tuple(secret for secret in (row.secret, row.previous_secret if rotated else None) if secret)


def _send(factory: SessionFactory, shipment: Shipment, web: GuardedWeb, mailer: Mailer | None) -> None:
    start = time.monotonic()
    send: Callable[[], SendResult] = (
        (lambda: _post(shipment, web))
        if shipment.kind == SubscriptionKind.WEBHOOK
        else (lambda: _mail(shipment, mailer))
    )
    result = send()
    seconds = time.monotonic() - start
    with unit_of_work(factory) as session:
        rows = repository.lock_for_result(session, shipment.id)
        if rows is not None:
            _note(session, *rows, result, seconds)


def headers_of(name: str, body: str, secrets: tuple[str, ...], at: datetime) -> dict[str, str]:
    """Headers by the [Standard Webhooks](https://www.standardwebhooks.com) specification; `name` is the message's."""
    return {
        "Content-Type": "application/json",
        "User-Agent": "Deskarena (webhooks)",
        "webhook-id": name,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(Webhook(secret).sign(name, at, body) for secret in secrets),
    }


def _post(shipment: Shipment, web: GuardedWeb) -> SendResult:
    body = json.dumps(shipment.payload, ensure_ascii=False)
    headers = headers_of(f"msg_{shipment.id.hex}", body, shipment.secrets, datetime.now(UTC))
    try:
        reply = web.send(
            "POST",
            shipment.address,
            headers=headers,
            body=body.encode(),
            max_bytes=ANSWER_BYTES,
            timeout=SECONDS,
            cut=True,
        )
    except DeskarenaError as error:
        return SendResult(error=error.text)
    answer = visible(reply.body.decode("utf-8", "replace"))
    if 200 <= reply.status < 300:  # noqa: PLR2004 - success
        return SendResult(reply.status, answer)
    redirected = 300 <= reply.status < 400  # noqa: PLR2004 - redirects
    return SendResult(
        reply.status,
        answer,
        "redirects are not followed" if redirected else f"the answer was {reply.status}",
        gone=reply.status == GONE,
        retry_after=_retry_after(reply.headers) if reply.status in {TOO_MANY, UNAVAILABLE} else 0,
    )


def _retry_after(headers: Mapping[str, str]) -> int:
    text = headers.get("retry-after", "")
    return min(int(text), LONGEST_RETRY_AFTER) if text.isascii() and text.isdigit() and len(text) < 10 else 0  # noqa: PLR2004 - digits


def _mail(shipment: Shipment, mailer: Mailer | None) -> SendResult:
    if mailer is None:
        return SendResult(error="this installation sends no e-mail: DESKARENA_SMTP_HOST is not set")
    try:
        mailer.send(shipment.id, shipment.address, shipment.payload)
    except MailRefused as error:
        return SendResult(error=str(error), final=error.final)
    return SendResult(answer=f"accepted by {mailer.host}")


def _note(session: Session, row: Delivery, subscription: Subscription, result: SendResult, seconds: float) -> None:
    """Writes how an attempt went, and what follows."""
    now = workers.now(session)
    attempt = {
        "at": now.isoformat(),
        "status": result.status,
        "answer": result.answer[:ANSWER_BYTES],
        "error": visible(result.error)[:ERROR_LENGTH],
        "seconds": round(seconds, 3),
    }
    row.attempts = [*row.attempts, attempt][-MOST_ATTEMPTS:]
    if not result.error:
        row.state, row.finished_at, subscription.succeeded_at = DeliveryState.DELIVERED.value, now, now
        return
    if row.state != DeliveryState.WAITING:
        return  # Another process has sent it, or the subscription was disabled meanwhile.
    if not (result.final or result.gone) and row.tries <= len(PAUSES):
        row.next_at = now + timedelta(seconds=max(PAUSES[row.tries - 1], result.retry_after))
        return
    row.state, row.finished_at = DeliveryState.FAILED.value, now
    arrived = subscription.succeeded_at is not None and subscription.succeeded_at > row.scheduled_at
    if result.gone:
        _disable(session, subscription, now, "the receiver answered 410: it wants nothing more")
    elif not result.final and not arrived:
        _disable(session, subscription, now, f"nothing has arrived for {(now - row.scheduled_at).days} days")


def _disable(session: Session, row: Subscription, now: datetime, reason: str) -> None:
    if row.disabled_at is None:
        row.disabled_at, row.disabled_reason = now, reason
        repository.give_up_waiting(session, row.id)
        logger.warning("subscription %s is disabled: %s", row.id, reason)
