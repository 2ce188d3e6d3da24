"""A service that may send to this machine."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import update

from backend.config import Settings
from backend.db.models import Delivery
from backend.web.dependencies import AppContext
from backend.web.notifications.sender_thread import NotificationSender
from tests.factories.records import World
from tests.fakes.origin_server import OriginServer, origin
from tests.integration.web.conftest import lent

PUBLIC = "https://desk.example.org"


@dataclass
class Notifier:
    """A service with its sender, and a receiver of webhooks."""

    made: World
    client: TestClient
    receiver: OriginServer
    folder: Path
    settings: dict[str, Any] = field(default_factory=dict)

    def configure(self, **settings: Any) -> None:
        """Gives the service other settings."""
        self.settings |= settings
        app = self.client.app
        assert isinstance(app, FastAPI)
        made = Settings(data_dir=self.folder, **self.settings)
        app.state.edge = AppContext(made, self.made.factory, self.made.store)

    def subscribe(self, *events: str, address: str = "", **more: Any) -> dict[str, Any]:
        """A new subscription: of the receiver, unless there is an address."""
        body = {"address": address or f"{self.receiver.address}/hook", "events": events, **more}
        answer = self.client.post("/api/v1/subscriptions", json=body)
        assert answer.status_code == 201, answer.text
        created: dict[str, Any] = answer.json()
        return created

    def sender(self) -> NotificationSender:
        """A sender with the settings of now."""
        app = self.client.app
        assert isinstance(app, FastAPI)
        return NotificationSender(app.state.edge)

    def turn(self, *, wait: bool = True, sender: NotificationSender | None = None) -> None:
        """One round of the sender, when everything that waits is due."""
        if wait:
            with self.made.work() as session:
                session.execute(update(Delivery).values(next_at=Delivery.created_at))
        (sender or self.sender()).turn()

    def deliveries(self) -> list[dict[str, Any]]:
        """All deliveries, the newest first."""
        items: list[dict[str, Any]] = self.client.get("/api/v1/deliveries").json()["items"]
        return items

    def completed_run(self, *scores: float, **more: Any) -> str:
        """A completed run with these scores of its tasks."""
        worker = self.made.worker(name=f"worker {more}", node=f"node {more}")
        run = self.made.submit(**more)
        for score in scores:
            self.made.score(self.made.must_claim(worker), score)
        return str(run.id)


@pytest.fixture
def notifier(installation: World, tmp_path: Path) -> Iterator[Notifier]:
    """A service that may send to this machine."""
    with lent(installation, tmp_path) as client, origin() as receiver:
        notifying = Notifier(installation, client, receiver, tmp_path)
        # Workers of tests have no heartbeat.
        notifying.configure(webhook_private_hosts=("127.0.0.1",), public_url=PUBLIC, lease_seconds=3600.0)
        yield notifying
