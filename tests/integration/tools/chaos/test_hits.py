"""A process that chaos hits is really killed, or stopped until healed; a hit without a target says so."""

import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import cast

import psutil
import pytest

from tests.factories.records import World, world
from tests.waiting import until
from tools.chaos.faults.base import Scene
from tools.chaos.faults.parts import DesktopSupervisorHit, KillGuard
from tools.chaos.faults.pods import MachineHit
from tools.chaos.stack import ChaosStack

PROGRAM = "stand-in-for-a-machine"
WORN = "an episode under way has had its losses: left alone"


@pytest.fixture
def installation(fresh_database: str) -> Iterator[World]:
    with world(fresh_database) as made:
        made.benchmark()
        made.worker()
        made.submit()
        yield made


@pytest.fixture
def scene(installation: World) -> Scene:
    """Of a stack that has a database, and this process's children as its pods."""
    return Scene(cast("ChaosStack", SimpleNamespace(world=installation)))


@pytest.fixture
def process() -> Iterator[psutil.Process]:
    """A child with the program's name among its words; gone at the end."""
    words = [sys.executable, "-c", "import sys; sys.stdin.read()", PROGRAM]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as made:
        yield psutil.Process(made.pid)
        made.kill()


class TestMachineHit:
    def test_a_killed_process_is_dead(self, scene: Scene, process: psutil.Process) -> None:
        assert MachineHit(PROGRAM, 0.5).inject(scene) == f"{PROGRAM} ({process.pid}) killed"
        until(lambda: process.status() == psutil.STATUS_ZOMBIE)

    def test_a_paused_process_stops_until_it_is_healed(self, scene: Scene, process: psutil.Process) -> None:
        fault = MachineHit(PROGRAM, 0.5, 3.0)
        assert fault.inject(scene) == f"{PROGRAM} ({process.pid}) is paused for 3.0 s"
        until(lambda: process.status() == psutil.STATUS_STOPPED)
        fault.heal(scene)
        until(lambda: process.status() != psutil.STATUS_STOPPED)
        assert process.is_running()

    def test_a_worn_episode_is_spared(
        self, installation: World, scene: Scene, process: psutil.Process, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tools.chaos.faults.guests.PATIENCE", 0.0)
        installation.lose(installation.must_claim(installation.worker()))
        assert MachineHit(PROGRAM, 0.5).inject(scene) == WORN
        assert process.status() != psutil.STATUS_ZOMBIE


class TestNothingToHit:
    """The words by which a campaign counts a fault as one that found nothing."""

    @pytest.fixture
    def scene(self, process: psutil.Process) -> Scene:
        """Of a stack whose parts are all a process that has neither guard nor desktop supervisor."""
        return Scene(cast("ChaosStack", SimpleNamespace(pid=lambda _: process.pid)))

    def test_a_part_without_a_guard(self, scene: Scene, process: psutil.Process) -> None:
        assert KillGuard("api").inject(scene) == "no guard of api is there"
        assert process.status() != psutil.STATUS_ZOMBIE

    def test_a_worker_without_a_supervisor(self, scene: Scene) -> None:
        assert DesktopSupervisorHit("worker-1").inject(scene) == "no desktop supervisor of worker-1 is there"
