"""A service over real PostgreSQL with a realistic scene in it, made once per test process."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from backend.config import Settings
from backend.services import events
from backend.web.app import create_app
from tests import databases
from tests.factories.records import World, world
from tests.factories.scene import Scene, make_scene

OWN = "http://127.0.0.1:8000"


@pytest.fixture(autouse=True)
def _no_broker() -> Iterator[None]:
    """Without a broker, unless a test configures one: nothing here may need it."""
    events.configure("")
    yield
    events.configure("")


@pytest.fixture(scope="session")
def scene(postgres_server: str) -> Iterator[Scene]:
    """Two agents' runs with every outcome, one under way. Tests that use it only look."""
    with databases.copied(postgres_server) as url, world(url) as made:
        yield make_scene(made)


def client_of(made: World, folder: Path) -> TestClient:
    """A client of a service over this installation."""
    app = create_app(Settings(data=folder), made.factory, made.store)
    return TestClient(app, base_url=OWN, raise_server_exceptions=False, follow_redirects=False)


@pytest.fixture
def client(scene: Scene, tmp_path: Path) -> TestClient:
    """Looks at the scene."""
    return client_of(scene.world, tmp_path)


@pytest.fixture
def installation(fresh_database: str) -> Iterator[World]:
    """An installation of this test's own, with three tasks and a worker."""
    with world(fresh_database) as made:
        made.benchmark()
        made.worker()
        yield made


@pytest.fixture
def fresh(installation: World, tmp_path: Path) -> TestClient:
    """A client of that installation, for tests that change something."""
    return client_of(installation, tmp_path)
