"""A separate installation for every test that commits."""

from collections.abc import Iterator

import pytest

from backend.services import events
from tests.factories.records import World, emptied


@pytest.fixture(autouse=True)
def _no_broker() -> Iterator[None]:
    """Without a broker, unless a test configures one: nothing here may need it."""
    events.configure("")
    yield
    events.configure("")


@pytest.fixture
def installation(shared_database: str) -> Iterator[World]:
    """An empty installation."""
    with emptied(shared_database) as installation_world:
        yield installation_world


@pytest.fixture
def ready(installation: World) -> World:
    """With a benchmark of three tasks."""
    installation.benchmark()
    return installation
