"""A machine that is lost in mid-episode: its attempt ends as `guest`, and another attempt finishes the episode."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from backend.config import Settings
from backend.db.session import session_factory
from backend.domain import registry
from backend.domain.ports.desktop import OpenDesktop
from backend.domain.registry import PluginKind
from tests.databases import engine_on
from tests.factories.claims import infeasible_task
from tests.factories.own_machines import machine_of, machines
from tests.factories.records import World
from tests.fakes.patient_agent import PatientAgent
from tests.integration.qemu.conftest import Tiny
from tests.integration.worker.in_process import InProcessWorker, attempts, benchmark_of, finished, submit
from tests.waiting import until
from worker.providers.qemu import QemuProvider

pytestmark = pytest.mark.desktop
DEADLINE = 60.0
"""From the fault to the scored episode: one request's deadline, and an attempt on another machine."""


def killed(opened: OpenDesktop) -> None:
    machine_of(opened).kill()


def frozen(opened: OpenDesktop) -> None:
    machine_of(opened).suspend()


def lying(how: str) -> Callable[[OpenDesktop], None]:
    def lie(opened: OpenDesktop) -> None:
        opened.desktop.call("POST", "/run", {"command": f"echo {how} >/lie"})

    return lie


@pytest.fixture
def world(fresh_database: str) -> Iterator[World]:
    with engine_on(fresh_database) as engine:
        yield World(session_factory(engine))


@pytest.fixture
def patient() -> Iterator[type[PatientAgent]]:
    registry.load()
    registry.register(PluginKind.AGENT, "patient")(PatientAgent)
    PatientAgent.waiting.clear()
    PatientAgent.go.clear()
    yield PatientAgent
    PatientAgent.go.set()
    registry.unregister(PluginKind.AGENT, "patient")


@pytest.fixture
def provider(tiny: Tiny) -> Iterator[QemuProvider]:
    """One of the worker's own, which closes it when it stops."""
    made = QemuProvider(Settings(data_dir=tiny.data))
    yield made
    made.close()


@pytest.fixture
def worker(
    world: World, provider: QemuProvider, patient: type[PatientAgent], tmp_path: Path
) -> Iterator[InProcessWorker]:
    """With one slot; it offers the agent, which was registered before."""
    assert not patient.go.is_set()
    settings = Settings(data_dir=tmp_path, slots=1, poll_seconds=0.2)
    world.benchmark(benchmark_of(infeasible_task()))
    started = InProcessWorker(settings, world, provider)
    yield started
    started.stop()


@pytest.mark.sampled(1)
class TestLost:
    @pytest.mark.parametrize(
        ("fault", "code", "evidence"),
        [
            pytest.param(killed, "desktop_unreachable", "QEMU exited with -9", id="killed"),
            pytest.param(lying("size"), "desktop_unreachable", "broken", id="wrong size"),
            pytest.param(lying("huge"), "observation_failed", "limit", id="huge reply", marks=pytest.mark.long),
            pytest.param(frozen, "desktop_unreachable", "15 s", id="frozen", marks=pytest.mark.long),
            pytest.param(lying("hang"), "desktop_unreachable", "15 s", id="hanging server", marks=pytest.mark.long),
            pytest.param(lying("endless"), "desktop_unreachable", "15 s", id="endless reply", marks=pytest.mark.long),
        ],
    )
    def test_another_attempt_finishes_the_episode(  # noqa: PLR0913, PLR0917 - fixtures and a case.
        self,
        world: World,
        worker: InProcessWorker,
        provider: QemuProvider,
        patient: type[PatientAgent],
        fault: Callable[[OpenDesktop], None],
        code: str,
        evidence: str,
    ) -> None:
        before = len(machines())
        run = submit(world, "patient", "qemu")
        worker.dispatcher.wake()
        assert patient.waiting.wait(60.0)
        (opened,) = provider.slot_desktops.open_desktops.values()
        fault(opened)
        begun = time.monotonic()
        patient.go.set()
        (episode,) = finished(world, run.id, DEADLINE)
        assert time.monotonic() - begun < DEADLINE
        first, second = attempts(world, episode.id)
        assert (first.state, first.failure_class, first.failure_code) == ("lost", "guest", code)
        assert evidence in first.failure_message
        assert (second.state, episode.state) == ("scored", "scored")
        assert not opened.alive()
        worker.stop()
        until(lambda: len(machines()) == before)
