"""An installation in its own database, with workers in this process."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from backend.config import Settings
from backend.db.session import session_factory
from backend.domain import registry
from backend.domain.ports.desktop import Provider
from backend.domain.registry import PluginKind
from tests.databases import engine_on
from tests.factories.records import World
from tests.fakes.patient_agent import PatientAgent
from tests.integration.worker.in_process import InProcessWorker


@pytest.fixture
def world(fresh_database: str) -> Iterator[World]:
    """An empty installation."""
    with engine_on(fresh_database) as engine:
        yield World(session_factory(engine))


@pytest.fixture
def start_worker(world: World, tmp_path: Path) -> Iterator[Callable[..., InProcessWorker]]:
    """Starts workers with two slots of the `fake` provider, or of another one; they are stopped at the end."""
    registry.load()
    settings = Settings(data_dir=tmp_path, slots=2, poll_seconds=0.2, heartbeat_seconds=0.1, lease_seconds=15.0)
    started: list[InProcessWorker] = []

    def start(other: Provider | None = None) -> InProcessWorker:
        started.append(InProcessWorker(settings, world, other))
        return started[-1]

    yield start
    for worker in started:
        worker.stop()


@pytest.fixture
def patient() -> Iterator[type[PatientAgent]]:
    """The agent `patient`, registered for this test only."""
    registry.load()
    registry.register(PluginKind.AGENT, "patient")(PatientAgent)
    PatientAgent.waiting.clear()
    PatientAgent.go.clear()
    yield PatientAgent
    PatientAgent.go.set()
    registry.unregister(PluginKind.AGENT, "patient")
