from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from sqlalchemy import select, text

from backend.config import Settings
from backend.db.compatibility import OldSchema
from backend.db.models import Worker
from backend.domain.errors import ClusterLost
from backend.domain.model.reason import ReasonCode
from backend.domain.ports.cluster import ClusterProvider
from backend.domain.ports.desktop import Availability
from backend.services.runs.runs import cancel_run, get_run
from backend.services.scheduling import claims, episode_scheduler
from backend.services.scheduling.wait_reasons import concurrency_of
from tests.factories.claims import infeasible_task, note_task
from tests.factories.records import World
from tests.fakes.patient_agent import PatientAgent
from tests.fakes.provider import FakeProvider
from tests.integration.worker.in_process import (
    InProcessWorker,
    attempts,
    benchmark_of,
    episodes,
    evaluations,
    finished,
    leases,
    steps,
    submit,
    submit_together,
)
from tests.waiting import holds, until
from worker.scheduling.slots import SlotWorker

SOLUTION = ({"type": "hello"}, {"hotkey": ["ctrl", "s"]})
StartWorker = Callable[[], InProcessWorker]


@pytest.mark.sampled(2)
class TestRun:
    def test_every_episode_is_scored_and_the_run_completes(self, world: World, start_worker: StartWorker) -> None:
        tasks = [note_task(f"hello-{number}", oracle=SOLUTION) for number in range(4)]
        world.benchmark(benchmark_of(*tasks, infeasible_task()))
        worker = start_worker()
        run = submit(world, "oracle")
        worker.dispatcher.wake()
        found = finished(world, run.id)
        assert [episode.score for episode in found] == [1.0] * 5
        assert world.do(get_run, run.id).state == "completed"

    def test_the_record_has_steps_pictures_verdict_and_evidence(self, world: World, start_worker: StartWorker) -> None:
        world.benchmark(benchmark_of(note_task(oracle=SOLUTION)))
        worker = start_worker()
        run = submit(world, "oracle")
        worker.dispatcher.wake()
        (episode,) = finished(world, run.id)
        (attempt,) = attempts(world, episode.id)
        kept = steps(world, attempt.id)
        assert episode.steps == attempt.current_step == len(kept) - 1
        assert kept[-1].results[0]["final"]
        assert all(step.frame_sha256 in world.store.blobs for step in kept)
        assert attempt.first_observation_at is not None
        assert {"reset", "setup", "agent", "evaluation"} <= set(attempt.seconds)
        (evaluation,) = evaluations(world, attempt.id)
        assert evaluation.score == 1.0

    def test_lease_is_reused_while_there_is_work_and_then_released(
        self, world: World, start_worker: StartWorker
    ) -> None:
        world.benchmark(benchmark_of(*[note_task(f"n-{number}") for number in range(6)]))
        worker = start_worker()
        run = submit(world)
        worker.dispatcher.wake()
        finished(world, run.id)
        until(lambda: all(lease.released_at for lease in leases(world)))
        assert len(leases(world)) < 6, "not one for each"
        assert worker.provider.unprepared

    def test_two_runs_share_two_slots(
        self, world: World, start_worker: StartWorker, patient: type[PatientAgent], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(episode_scheduler, "PATIENCE_MS", 10_000)  # However long a roll-up of one of them takes.
        world.benchmark(benchmark_of(*[note_task(f"n-{number}") for number in range(3)]))
        worker = start_worker()
        runs = submit_together(world, "patient", "patient")
        worker.dispatcher.wake()

        def running() -> list[int]:
            return [sum(episode.state == "running" for episode in episodes(world, run.id)) for run in runs]

        until(lambda: running() == [1, 1], what="one episode of each run is under way")
        patient.go.set()
        for run in runs:
            assert {episode.state for episode in finished(world, run.id)} == {"scored"}


@pytest.mark.sampled(2)
@pytest.mark.usefixtures("patient")
class TestStopped:
    @pytest.fixture
    def under_way(self, world: World, start_worker: StartWorker) -> tuple[InProcessWorker, object]:
        """A worker whose agent waits at the second step of the only episode."""
        world.benchmark(benchmark_of())
        worker = start_worker()
        run = submit(world, "patient")
        worker.dispatcher.wake()
        assert PatientAgent.waiting.wait(60.0)
        return worker, run.id

    def test_cancel_in_mid_episode(self, world: World, under_way: tuple[InProcessWorker, object]) -> None:
        worker, run_id = under_way
        world.do(cancel_run, run_id)
        (episode,) = finished(world, run_id)  # type: ignore[arg-type]
        assert episode.state == "cancelled"
        assert episode.score is None
        until(lambda: worker.provider.opened[0].closed, what="the desktop is gone")

    def test_released_lease_stops_its_attempt_without_writes(
        self, world: World, under_way: tuple[InProcessWorker, object]
    ) -> None:
        worker, run_id = under_way
        (lease,) = leases(world)
        world.do(claims.release_lease, lease.id, "taken away by the test")
        until(lambda: worker.provider.opened[0].closed, what="the desktop is gone")
        PatientAgent.go.set()
        (episode,) = finished(world, run_id)  # type: ignore[arg-type]
        first, second = attempts(world, episode.id)
        assert (first.state, first.failure_class) == ("lost", "cluster")
        assert first.failure_message == "taken away by the test"
        assert (second.state, episode.score) == ("scored", 0.0)
        assert evaluations(world, first.id) == []

    def test_stopping_worker_releases_its_attempt(
        self, world: World, start_worker: StartWorker, under_way: tuple[InProcessWorker, object]
    ) -> None:
        worker, run_id = under_way
        worker.stop()
        (episode,) = episodes(world, run_id)  # type: ignore[arg-type]
        assert episode.state == "waiting"
        assert worker.provider.opened[0].closed
        assert all(lease.released_at for lease in leases(world))
        PatientAgent.go.set()
        start_worker()
        (episode,) = finished(world, run_id)  # type: ignore[arg-type]
        assert [attempt.state for attempt in attempts(world, episode.id)] == ["lost", "scored"]

    def test_grace_period_finishes_the_attempt_and_starts_no_other(self, world: World, tmp_path: Path) -> None:
        world.benchmark(benchmark_of())
        alive = tmp_path / "alive"
        settings = Settings(
            data_dir=tmp_path, slots=1, poll_seconds=0.2, shutdown_grace_seconds=60.0, liveness_file=alive
        )
        worker = InProcessWorker(settings, world)
        run = submit(world, "patient", repeats=2)
        worker.dispatcher.wake()
        assert PatientAgent.waiting.wait(60.0)
        assert alive.exists()
        stopping = Thread(target=worker.stop)
        stopping.start()
        state = select(Worker.state)
        until(lambda: world.do(lambda session: session.scalar(state)) == "draining", what="it takes no more")
        PatientAgent.go.set()
        stopping.join(30.0)
        assert sorted(episode.state for episode in episodes(world, run.id)) == ["scored", "waiting"]
        assert all(lease.released_at for lease in leases(world))

    def test_no_attempt_starts_on_an_outdated_schema(
        self, world: World, start_worker: StartWorker, caplog: pytest.LogCaptureFixture
    ) -> None:
        world.benchmark(benchmark_of())
        world.do(lambda session: session.execute(text("UPDATE alembic_version SET version_num = '0021'")))
        with ThreadPoolExecutor(1) as pool:
            starting = pool.submit(start_worker)
            until(lambda: OldSchema("The database").message in caplog.text, 20.0, what="it says why")
            assert not starting.done()
            world.do(lambda session: session.execute(text("UPDATE alembic_version SET version_num = '9999'")))
            worker = starting.result(60)
        run = submit(world, "noop")
        worker.dispatcher.wake()
        assert finished(world, run.id)[0].state == "scored"


class FakeClusterProvider(FakeProvider):
    """Slots of a pretended cluster, which may be `gone`; `asked` counts the calls for its capabilities."""

    cluster, desktops, gone, asked = "", 2, "", 0

    def availability(self) -> Availability:
        self.asked += 1
        return super().availability()

    def away(self) -> str:
        return self.gone

    def troubles(self) -> None:
        return None


class TestAway:
    def test_cluster_outage_stops_new_attempts_but_not_running_ones(
        self,
        world: World,
        start_worker: Callable[[FakeProvider], InProcessWorker],
        patient: type[PatientAgent],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("worker.scheduling.dispatcher.NEWS_REST", 60.0)
        world.benchmark(benchmark_of())
        provider = FakeClusterProvider()
        assert isinstance(provider, ClusterProvider)
        worker = start_worker(provider)
        first = submit(world, "patient")
        worker.dispatcher.wake()
        assert patient.waiting.wait(60.0)
        asked = provider.asked
        provider.gone = "nobody answers"
        until(lambda: provider.asked > asked, what="what can be done there is told anew")
        second = submit(world)

        def waits() -> bool:
            worker.dispatcher.wake()
            return [each.state for each in episodes(world, second.id)] == ["waiting"]

        holds(waits, 0.5)
        patient.go.set()
        assert [each.state for each in finished(world, first.id)] == ["scored"]
        asked, provider.gone = provider.asked, ""
        assert [each.state for each in finished(world, second.id)] == ["scored"]
        until(lambda: provider.asked > asked, what="and once more when it is back")


@pytest.mark.sampled(2)
class TestTrouble:
    def test_a_full_disk_loses_the_attempt_and_nothing_else(self, world: World, start_worker: StartWorker) -> None:
        world.benchmark(benchmark_of())
        world.store.room = 0
        worker = start_worker()
        run = submit(world)
        worker.dispatcher.wake()
        (episode,) = episodes(world, run.id)
        until(lambda: any(attempt.state == "lost" for attempt in attempts(world, episode.id)))
        world.store.room = None
        (episode,) = finished(world, run.id)
        first = attempts(world, episode.id)[0]
        assert first.failure_class == "cluster"
        assert "disk is full" in first.failure_message
        assert episode.state == "scored"

    def test_no_attempt_starts_while_the_artifact_store_is_full(self, world: World, start_worker: StartWorker) -> None:
        world.benchmark(benchmark_of(*[note_task(f"n-{number}") for number in range(6)]))
        world.store.room = 0
        worker = start_worker()
        run = submit(world)
        worker.dispatcher.wake()

        def made() -> int:
            return sum(len(attempts(world, episode.id)) for episode in episodes(world, run.id))

        def hindrance() -> str:
            with world.work() as session:
                return str(session.scalars(select(Worker)).one().capabilities.get("hindrance", ""))

        until(hindrance, what="the worker knows that there is no room")
        until(lambda: all(lease.released_at for lease in leases(world)), what="what was under way has ended")
        before = made()
        assert before <= 4, "one attempt of each slot, and one that was on its way"

        def begins_none() -> bool:
            worker.dispatcher.wake()
            return made() == before

        holds(begins_none, 1.0)

        def blocked() -> bool:
            limit = world.do(concurrency_of, run.id)
            return limit is not None and limit.limiting_factor.code is ReasonCode.WORKERS_BLOCKED

        until(blocked, what="it is said")
        world.store.room = None
        assert {episode.state for episode in finished(world, run.id)} == {"scored"}
        assert all(len(blob) < 2**20 for blob in world.store.blobs.values()), "what was tried is removed"

    def test_unstartable_attempts_are_handed_back_and_played_later(
        self, world: World, start_worker: StartWorker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        world.benchmark(benchmark_of(note_task("n-0"), note_task("n-1")))
        worker = start_worker()
        begun = []

        def one(*args: Any, **more: Any) -> SlotWorker:
            begun.append(args)
            if len(begun) == 1:
                raise RuntimeError("can't start new thread")
            return SlotWorker(*args, **more)

        monkeypatch.setattr("worker.scheduling.dispatcher.SlotWorker", one)
        run = submit(world)
        worker.dispatcher.wake()
        found = finished(world, run.id)
        assert [each.state for each in found] == ["scored", "scored"]
        first, second = (attempts(world, each.id) for each in found)
        assert [each.state for each in (*first, *second)] == ["lost", "scored"] * 2, "that of the slot behind it, too"
        assert {each.failure_class for each in (first[0], second[0])} == {"cluster"}
        assert "can't start new thread" in str(first[0].failure_message)
        assert first[0].first_observation_at is None
        until(lambda: all(lease.released_at for lease in leases(world)), what="nothing is held for ever")

    def test_a_machine_that_cannot_make_desktops_rests_between_two_tries(
        self, world: World, start_worker: StartWorker
    ) -> None:
        world.benchmark(benchmark_of())
        worker = start_worker()
        worker.provider.broken = ClusterLost("no memory left")
        run = submit(world)
        worker.dispatcher.wake()
        (episode,) = episodes(world, run.id)
        until(lambda: attempts(world, episode.id) and attempts(world, episode.id)[0].state == "lost")
        worker.provider.broken = None
        (episode,) = finished(world, run.id)
        assert episode.score == 0.0
        assert len(attempts(world, episode.id)) == 2
