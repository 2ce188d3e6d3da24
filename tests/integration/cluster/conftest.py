"""A fake cluster, our port to it, and an installation on real Postgres."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.domain import registry
from backend.services import events
from tests.factories.fake_cluster_pods import PodCluster, light_place
from tests.factories.records import World, emptied
from tests.fakes.kubernetes.cluster import FakeCluster, fake_cluster
from worker.base.database import Database
from worker.k8s.client import Kubernetes, connect

NAMESPACE = "desks"


@pytest.fixture(autouse=True)
def _no_broker() -> Iterator[None]:
    """Without a broker: nothing here may need it."""
    events.configure("")
    yield
    events.configure("")


@pytest.fixture
def ready(shared_database: str) -> Iterator[World]:
    """An installation with a benchmark of three tasks."""
    with emptied(shared_database) as installation:
        installation.benchmark()
        yield installation


@pytest.fixture
def database(ready: World) -> Database:
    """The worker's door to it."""
    return Database(ready.factory)


@pytest.fixture
def fake() -> Iterator[FakeCluster]:
    """A cluster of our own, with a namespace for our pods."""
    with fake_cluster(bookmarks=0.5) as cluster_fake:
        cluster_fake.add_namespace(NAMESPACE)
        yield cluster_fake


@pytest.fixture
def cluster(fake: FakeCluster, tmp_path: Path) -> Iterator[Kubernetes]:
    """Our port to it, by the official client."""
    connection = connect(str(fake.kubeconfig(tmp_path / "kubeconfig")), NAMESPACE)
    yield connection
    connection.close()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[PodCluster]:
    """A fake cluster whose pods run the real supervisor, with guests that only answer."""
    registry.load()
    with light_place(tmp_path) as light:
        yield light
