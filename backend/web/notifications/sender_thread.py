"""The thread that sends notifications. It is the API's: it must tell that the last worker is gone."""

import time
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.config import Settings
from backend.db.models import Notification, Subscription
from backend.domain.errors import Unavailable
from backend.services.artifacts.egress_policy import EgressPolicy
from backend.services.artifacts.ssrf_safe_http import GuardedWeb
from backend.services.notifications import preparation, sending
from backend.services.notifications.mailer import Mailer
from backend.services.notifications.views.payloads import payloads_of
from backend.services.periodic_thread import PeriodicThread
from backend.services.scheduling import maintenance
from backend.web.dependencies import AppContext

PRUNE_SECONDS = 3600.0


class NotificationSender:
    """One round: ends silent workers, makes deliveries of what happened, and sends what is due."""

    def __init__(self, edge: AppContext) -> None:
        self._edge = edge
        settings = edge.settings
        hosts = settings.webhook_private_hosts
        self._web = GuardedWeb(EgressPolicy(private_hosts=hosts, setting="DESKARENA_WEBHOOK_PRIVATE_HOSTS"))
        self._mailer = Mailer.from_settings(settings)
        self._public_url = public_url(settings)
        self._prune_at = 0.0

    def turn(self) -> None:
        """Safe to run in several processes at once. Raises Unavailable."""
        factory = self._edge.factory
        maintenance.tend(factory, lease_seconds=self._edge.settings.lease_seconds)
        self.prepare()
        sending.send_due(factory, self._web, self._mailer)
        if time.monotonic() >= self._prune_at:
            preparation.prune(factory)
            self._prune_at = time.monotonic() + PRUNE_SECONDS

    def prepare(self) -> None:
        """Makes deliveries of what happened. Raises Unavailable."""
        preparation.prepare_due(self._edge.factory, self._describe)

    def _describe(
        self, session: Session, notification: Notification, subscriptions: Sequence[Subscription]
    ) -> dict[UUID, dict[str, Any]]:
        return payloads_of(session, notification, subscriptions, self._public_url)


def make_thread(edge: AppContext) -> PeriodicThread:
    """The thread, not yet started."""
    sender = NotificationSender(edge)
    every = edge.settings.poll_seconds
    return PeriodicThread(
        "notifications", sender.turn, every=every, broken="sending notifications raised", errors=(Unavailable,)
    )


def public_url(settings: Settings) -> str:
    """Public address of this service, without a slash at the end."""
    own = f"http://127.0.0.1:{settings.port}{settings.root_path}"
    return (settings.public_url or own).rstrip("/")
