"""A worker rechecks its capabilities and reports changes."""

from collections.abc import Callable
from threading import Event, Thread, current_thread
from typing import Any

import pytest
from sqlalchemy import select

from backend.db.models import Worker
from backend.domain.ports.desktop import Availability
from tests.factories.records import World
from tests.fakes.patient_agent import PatientAgent
from tests.integration.worker.in_process import InProcessWorker, attempts, benchmark_of, finished, submit
from tests.waiting import until

StartWorker = Callable[[], InProcessWorker]


def state(world: World) -> str:
    """That of the only worker, as the database knows it."""
    with world.work() as session:
        return str(session.scalars(select(Worker)).one().state)


def programs(world: World) -> list[str]:
    """Those of the only worker's desktops, as the database knows them."""
    with world.work() as session:
        return list(session.scalars(select(Worker)).one().capabilities["providers"]["fake"]["programs"])


class TestNews:
    def test_newly_installed_programs_are_reported_and_attempts_continue(
        self,
        world: World,
        start_worker: StartWorker,
        patient: type[PatientAgent],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("worker.scheduling.dispatcher.LONGEST_REST", 0.1)
        world.benchmark(benchmark_of())
        worker = start_worker()
        run = submit(world, "patient")
        worker.dispatcher.wake()
        assert patient.waiting.wait(60.0)
        worker.provider.programs = ("mousepad", "gimp")
        until(lambda: programs(world) == ["gimp", "mousepad"], what="the worker says what it has now")
        patient.go.set()
        (episode,) = finished(world, run.id)
        assert [attempt.state for attempt in attempts(world, episode.id)] == ["scored"]

    def test_early_changes_are_reported_soon(
        self, world: World, start_worker: StartWorker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("worker.scheduling.dispatcher.NEWS_REST", 0.1)
        worker = start_worker()
        worker.provider.programs = ("gimp",)
        until(lambda: programs(world) == ["gimp"], what="the worker says what it has now")

    def test_stopping_the_worker_ends_a_running_capability_check(
        self, world: World, start_worker: StartWorker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("worker.scheduling.dispatcher.NEWS_REST", 0.1)
        worker = start_worker()
        looking: list[Thread] = []
        asked, go = Event(), Event()

        def slow() -> Availability:
            looking.append(current_thread())
            asked.set()
            go.wait(60.0)
            return Availability(ok=True, programs=("gimp",))

        monkeypatch.setattr(worker.provider, "availability", slow)
        assert asked.wait(60.0)
        stopping = Thread(target=worker.stop, args=(60.0,))
        stopping.start()
        until(lambda: state(world) == "draining", what="the worker is stopping")
        go.set()
        stopping.join(60.0)
        assert not stopping.is_alive()
        assert not any(thread.is_alive() for thread in looking), "it would work with what is closed"
        assert programs(world) == ["mousepad"]

    def test_capability_check_is_retried_when_no_thread_can_start(
        self, world: World, start_worker: StartWorker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("worker.scheduling.dispatcher.NEWS_REST", 0.1)
        refused: list[Thread] = []

        def one(*, name: str, **more: Any) -> Thread:
            thread = Thread(name=name, **more)
            if name == "news" and not refused:
                refused.append(thread)
                monkeypatch.setattr(thread, "start", no_thread)
            return thread

        def no_thread() -> None:
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr("worker.scheduling.dispatcher.Thread", one)
        worker = start_worker()
        until(lambda: refused, what="a look was to begin")
        worker.provider.programs = ("gimp",)
        until(lambda: programs(world) == ["gimp"], what="the worker says what it has now")
