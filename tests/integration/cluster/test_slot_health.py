"""A pod that does not start is on the workers page in the cluster's own words: real provider, Postgres and service."""

import html
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.config import Settings
from backend.db.models import Node, Slot
from backend.domain.errors import ClusterLost
from backend.domain.machines.nodes import NodeReport, NodeState
from backend.domain.machines.slots import SlotRef
from backend.domain.ports.desktop import DesktopSpec
from backend.services.capacity import nodes
from backend.web.app import create_app
from tests.error_codes import raises_code
from tests.factories.fake_cluster_pods import PodCluster
from tests.factories.light_guest import SCREEN
from tests.factories.records import World
from tests.fakes.kubernetes.behaviours import attach_failed, image_pull_back_off, mount_failed, sandbox_failed
from tests.waiting import until
from worker.base.database import Database
from worker.k8s import pod_status, pods
from worker.providers.k8s import K8sProvider
from worker.scheduling.slot_health_reporter import SlotHealthReporter

WORDS = "no such repository on this shelf"
SPEC = DesktopSpec(screen=SCREEN)


@pytest.fixture
def provider(place: PodCluster) -> Iterator[K8sProvider]:
    made = place.provider()
    yield made
    made.close()


def slots(session: Session) -> dict[str, SlotRef]:
    """By node; leased."""
    found = session.execute(select(Slot, Node.name).join(Node).where(Slot.provider == "k8s"))
    return {name: SlotRef(slot.index, name, str(slot.id), 1) for slot, name in found}


@pytest.fixture
def page(ready: World, tmp_path: Path) -> Callable[[], str]:
    """Words of the workers page."""
    service = create_app(Settings(data_dir=tmp_path), ready.factory, ready.store)
    client = TestClient(service, base_url="http://127.0.0.1:8000")
    return lambda: client.get("/workers").text


def offered(ready: World, provider: K8sProvider, names: list[str]) -> dict[str, SlotRef]:
    """Nodes of one slot each."""
    found = [NodeReport(name=name, state=NodeState.READY, slots=1) for name in names]
    ready.do(nodes.observe, provider.cluster, found, whole=True)
    return dict(ready.do(slots))


@pytest.mark.sampled(1, of="troubles")
def test_broken_slot_is_on_the_page_within_seconds(
    place: PodCluster, provider: K8sProvider, ready: World, database: Database, page: Callable[[], str]
) -> None:
    found = offered(ready, provider, ["node-1", "node-2"])
    sick, well = found["node-1"], found["node-2"]
    place.cluster.script(image_pull_back_off(WORDS), node="node-1")
    teller = SlotHealthReporter(database, [provider], every=0.2)
    teller.start()
    try:
        with raises_code(ClusterLost, "pod_not_ready", mentions=WORDS):
            provider.open(sick, SPEC)
        until(lambda: WORDS in page(), what="the page says it")
        assert "its pod does not start: the pod's image cannot be pulled: " in html.unescape(page())
        assert provider.open(well, SPEC).alive(), "nobody else is held up"
    finally:
        teller.stop()


@pytest.mark.sampled(1, of="troubles")
def test_pods_that_a_cluster_keeps_retrying_appear_within_a_minute_and_delay_no_start(
    place: PodCluster, provider: K8sProvider, ready: World, database: Database, page: Callable[[], str]
) -> None:
    """Each on its own node, in parallel, with the product's timeouts: pods may take a minute to start here."""
    mount = 'FailedMount: MountVolume.SetUp failed for volume "images"'
    said = {
        "n-cordoned": "no node takes the pod: 0/6 nodes are available",
        "n-mount": f"the pod's volumes are not available: {mount} : {WORDS}",
        "n-attach": "the pod's volumes are not available: FailedAttachVolume: Multi-Attach error for volume",
        "n-sandbox": "the pod's sandbox or network cannot be created: FailedCreatePodSandBox: Failed to create",
    }
    for name in said:
        place.cluster.add_node(name, kvm=2)
    place.cluster.cordon("n-cordoned")
    place.cluster.script(mount_failed(f"{WORDS} <b>&"), node="n-mount")
    place.cluster.script(attach_failed(), node="n-attach")
    place.cluster.script(sandbox_failed(), node="n-sandbox")
    found = offered(ready, provider, [*said, "node-1"])
    teller = SlotHealthReporter(database, [provider], every=0.2)
    teller.start()

    def begun(name: str) -> tuple[str, float]:
        """The error of a start that fails, and after how many seconds."""
        began = time.monotonic()
        with pytest.raises(ClusterLost) as lost:
            provider.open(found[name], SPEC)
        return lost.value.message, time.monotonic() - began

    try:
        with ThreadPoolExecutor() as threads:
            ended = dict(zip(said, threads.map(begun, said), strict=True))
        for name, words in said.items():
            told, seconds = ended[name]
            assert words in told
            assert seconds < pods.PATIENCE_SECONDS + pod_status.HITCH_SECONDS + 15, "of the 60 that a start may take"
            shown = f"its pod does not start: {words}"
            until(lambda shown=shown: shown in html.unescape(page()), what=name)  # type: ignore[misc]
        assert f"{WORDS} <b>" not in page()
        assert provider.open(found["node-1"], SPEC).alive(), "nobody else is held up"
    finally:
        teller.stop()
