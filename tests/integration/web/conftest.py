"""A service over real PostgreSQL with a realistic scene, created once per test process."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import event

from backend.config import Settings
from backend.services import events
from backend.web.app import create_app
from backend.web.dependencies import AppContext
from tests.factories.records import World, emptied
from tests.factories.scene import PageScene
from tests.factories.scene_copies import copied_scene

OWN = "http://127.0.0.1:8000"


@dataclass
class Reads:
    """Statements and rows that a page reads."""

    statements: int = 0
    rows: int = 0

    def note(self, _connection: Any, cursor: Any, *_: Any) -> None:
        """SQLAlchemy's event after each statement."""
        self.statements += 1
        self.rows += max(0, cursor.rowcount)


@contextmanager
def counted(world: World) -> Iterator[Reads]:
    """Counts the statements and rows that are read meanwhile."""
    reads, engine = Reads(), world.factory.kw["bind"]
    event.listen(engine, "after_cursor_execute", reads.note)
    try:
        yield reads
    finally:
        event.remove(engine, "after_cursor_execute", reads.note)


@pytest.fixture(autouse=True)
def _no_broker() -> Iterator[None]:
    """Without a broker, unless a test configures one: nothing here may need it."""
    events.configure("")
    yield
    events.configure("")


@pytest.fixture(scope="session")
def scene(postgres_server: str) -> Iterator[PageScene]:
    """Two agents' runs with every outcome, one under way. Tests that use it only look."""
    with copied_scene(postgres_server) as page_scene:
        yield page_scene


def client_of(world: World, folder: Path) -> TestClient:
    """A client of a service over this installation."""
    return client_to(create_app(Settings(data_dir=folder), world.factory, world.store))


def client_to(app: FastAPI) -> TestClient:
    """A client of this service, which computes each page anew."""
    client = TestClient(app, base_url=OWN, raise_server_exceptions=False, follow_redirects=False)
    client.headers["Cache-Control"] = "no-cache"
    return client


IDLE: list[FastAPI] = []
"""Services that no test uses: FastAPI makes the routes in each one's first request, which takes 0.2 s."""


@contextmanager
def lent(world: World, folder: Path) -> Iterator[TestClient]:
    """A client of a service that is reused between installations, with empty caches."""
    app = IDLE.pop() if IDLE else create_app(Settings(data_dir=folder))
    app.state.edge = AppContext(Settings(data_dir=folder), world.factory, world.store, app.version)
    yield client_to(app)
    IDLE.append(app)


@pytest.fixture
def client(scene: PageScene, tmp_path: Path) -> Iterator[TestClient]:
    """Looks at the scene."""
    with lent(scene.world, tmp_path) as test_client:
        yield test_client


@pytest.fixture
def installation(shared_database: str) -> Iterator[World]:
    """An installation of this test's own, with three tasks and a worker."""
    with emptied(shared_database) as emptied_world:
        emptied_world.benchmark()
        emptied_world.worker()
        yield emptied_world


@pytest.fixture
def fresh(installation: World, tmp_path: Path) -> Iterator[TestClient]:
    """A client of that installation, for tests that change something."""
    with lent(installation, tmp_path) as test_client:
        yield test_client
