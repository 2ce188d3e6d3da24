"""An installation of its own for every test that commits."""

from collections.abc import Iterator

import pytest
from sqlalchemy import delete

from backend.db.models import Base
from backend.services import events
from tests import databases
from tests.factories.records import World, world


@pytest.fixture(autouse=True)
def _no_broker() -> Iterator[None]:
    """Without a broker, unless a test configures one: nothing here may need it."""
    events.configure("")
    yield
    events.configure("")


@pytest.fixture(scope="module")
def shared_database(postgres_server: str) -> Iterator[str]:
    """One database per file: emptying it takes 10 ms, making one 60 times as long."""
    with databases.copied(postgres_server) as url:
        yield url


@pytest.fixture
def installation(shared_database: str) -> Iterator[World]:
    """An empty installation."""
    with world(shared_database) as made:
        yield made
        with made.work() as session:
            for table in reversed(Base.metadata.sorted_tables):
                session.execute(delete(table))


@pytest.fixture
def ready(installation: World) -> World:
    """With a benchmark of three tasks."""
    installation.benchmark()
    return installation
