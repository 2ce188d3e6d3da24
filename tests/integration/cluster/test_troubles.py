"""A pod that does not start is on the workers page in the cluster's own words: real provider, Postgres and service."""

import html
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.config import Settings
from backend.db.models import Node, Slot
from backend.domain.errors import ClusterLost
from backend.domain.nodes import NodeSeen, NodeState
from backend.domain.ports import DesktopSpec
from backend.domain.slots import SlotRef
from backend.services import nodes
from backend.web.app import create_app
from tests.factories.k8s_place import Place
from tests.factories.light_guest import SCREEN
from tests.factories.records import World
from tests.fakes.kubernetes.behaviours import image_pull_back_off
from tests.waiting import until
from worker.database import Database
from worker.providers.k8s import K8sProvider
from worker.troubles import Troubles

WORDS = "no such repository on this shelf"
SPEC = DesktopSpec(screen=SCREEN)


@pytest.fixture
def provider(place: Place) -> Iterator[K8sProvider]:
    made = place.provider()
    yield made
    made.close()


def slots(session: Session) -> dict[str, SlotRef]:
    """By node; leased."""
    found = session.execute(select(Slot, Node.name).join(Node).where(Slot.provider == "k8s"))
    return {name: SlotRef(slot.index, name, str(slot.id), 1) for slot, name in found}


def test_it_is_on_the_page_within_seconds(
    place: Place, provider: K8sProvider, ready: World, database: Database, tmp_path: Path
) -> None:
    service = create_app(Settings(data=tmp_path), ready.factory, ready.store)
    client = TestClient(service, base_url="http://127.0.0.1:8000")
    found = [NodeSeen(name=name, state=NodeState.READY, slots=1) for name in ("node-1", "node-2")]
    ready.do(nodes.observe, provider.cluster, found, whole=True)
    sick, well = (ready.do(slots)[name] for name in ("node-1", "node-2"))
    place.cluster.script(image_pull_back_off(WORDS), node="node-1")
    teller = Troubles(database, [provider], every=0.2)

    def page() -> str:
        return html.unescape(client.get("/workers").text)

    teller.start()
    try:
        with pytest.raises(ClusterLost, match=WORDS):
            provider.open(sick, SPEC)
        until(lambda: WORDS in page(), 10, what="the page says it")
        assert "its pod does not start: the pod's image cannot be had: " in page()
        assert provider.open(well, SPEC).alive(), "nobody else is held up"
    finally:
        teller.stop()
