"""Real workers, desktops, database and broker, and the failure of each of them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import psutil
import pytest

from backend.db.models import Attempt, Episode, Run
from backend.domain.model.run import Budget, ScreenSize
from backend.services.runs.runs import cancel_run
from backend.telemetry import tracing
from tests.fakes.traces import trace_receiver
from tests.integration.web.conftest import client_of
from tests.integration.worker.in_process import attempts, episodes, evaluations, finished, steps
from tests.integration.worker.stack import StartedWorker, WorkerStack
from tests.processes import has_ended, select_living
from tests.waiting import until

pytestmark = [pytest.mark.desktop, pytest.mark.stack]
LEASE = 4.0
TASK = "editor/add_milk"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerStack]:
    """Database and broker for all tests here; leases are short, so that outages need not be long."""
    made = WorkerStack(
        tmp_path_factory.mktemp("stack"),
        DESKARENA_LEASE_SECONDS=str(LEASE),
        DESKARENA_HEARTBEAT_SECONDS="0.5",
        DESKARENA_POLL_SECONDS="0.5",
    )
    made.import_starter()
    yield made
    made.close()


@pytest.fixture
def worker(stack: WorkerStack) -> Iterator[StartedWorker]:
    """Starts workers for this test; all are stopped at its end."""
    yield stack.start_worker()
    stack.stop_workers()


def submit(stack: WorkerStack, number: int = 40, **more: Any) -> Run:
    """A run whose only episode is under way for some ten seconds: an agent that clicks about until its budget ends."""
    more = {"tasks": (TASK,), "budget": Budget(max_steps=number), **more}
    return stack.world.submit("random", screen=ScreenSize(width=1280, height=800), **more)


def current(stack: WorkerStack, run_id: UUID) -> tuple[Episode, Attempt | None]:
    """The run's first episode and its newest attempt."""
    episode = episodes(stack.world, run_id)[0]
    made = attempts(stack.world, episode.id)
    return episode, made[-1] if made else None


def under_way(stack: WorkerStack, run_id: UUID, number: int = 3) -> Attempt:
    """The attempt, once it has taken some steps."""

    def found() -> Attempt | None:
        _, attempt = current(stack, run_id)
        return attempt if attempt is not None and attempt.current_step >= number else None

    attempt = until(found, 60.0, what="the episode is under way")
    assert attempt is not None
    return attempt


def family(worker: StartedWorker) -> list[psutil.Process]:
    """Every process below the worker: desktop supervisor, sandboxes, Xvfb, applications."""
    return psutil.Process(worker.pid).children(recursive=True)


def is_screen(process: psutil.Process) -> bool:
    return process.name() == "Xvfb"


def survivors(processes: list[psutil.Process]) -> list[str]:
    """Those that still live."""
    return [str(process) for process in processes if not has_ended(process)]


def gone(processes: list[psutil.Process]) -> Callable[[], bool]:
    """Whether none of them lives."""
    return lambda: not survivors(processes)


@pytest.mark.sampled(1)
class TestKilledWorker:
    @pytest.mark.parametrize("broker", [True, False], ids=["with-broker", "broker-stopped"])
    def test_another_attempt_finishes_the_episode(
        self,
        stack: WorkerStack,
        worker: StartedWorker,
        broker: bool,  # noqa: FBT001
    ) -> None:
        if not broker:
            stack.stop_broker()
        try:
            run = submit(stack)
            first = under_way(stack, run.id)
            processes = family(worker)
            assert select_living(processes, is_screen)
            worker.kill()
            stack.start_worker()
            until(gone(processes), 20.0, what="every process of the dead attempt is gone")
            (episode,) = finished(stack.world, run.id, 90.0)
        finally:
            if not broker:
                stack.start_broker()
        lost, scored = attempts(stack.world, episode.id)
        assert lost.id == first.id
        assert (lost.state, lost.failure_class) == ("lost", "cluster")
        assert scored.state == "scored"
        assert episode.score is not None
        assert evaluations(stack.world, lost.id) == []
        assert len(evaluations(stack.world, scored.id)) == 1

    def test_a_worker_of_another_machine_is_given_up_after_the_leases_time(
        self, stack: WorkerStack, worker: StartedWorker
    ) -> None:
        second = stack.start_worker()
        run = submit(stack)
        under_way(stack, run.id)
        _, attempt = current(stack, run.id)
        assert attempt is not None
        holder = worker if worker.said(str(attempt.id)) else second
        holder.kill()
        (episode,) = finished(stack.world, run.id, 90.0)
        assert [attempt.state for attempt in attempts(stack.world, episode.id)] == ["lost", "scored"]


@pytest.mark.sampled(1)
class TestDatabaseAway:
    def test_a_short_outage_costs_nothing(self, stack: WorkerStack, worker: StartedWorker) -> None:
        run = submit(stack)
        first = under_way(stack, run.id)
        stack.stop_postgres()
        until(lambda: worker.said("database unavailable"))
        stack.start_postgres()
        (episode,) = finished(stack.world, run.id, 90.0)
        assert [attempt.id for attempt in attempts(stack.world, episode.id)] == [first.id]
        assert episode.steps == 40
        assert [step.index for step in steps(stack.world, first.id)] == list(range(41))

    def test_long_outage_loses_the_attempt_and_recovers_by_itself(
        self, stack: WorkerStack, worker: StartedWorker
    ) -> None:
        run = submit(stack)
        first = under_way(stack, run.id)
        processes = select_living(family(worker), is_screen)
        assert processes
        stack.stop_postgres()
        until(gone(processes), LEASE + 10.0, what="the desktop is gone at the lease's end")
        stack.start_postgres()
        (episode,) = finished(stack.world, run.id, 90.0)
        states = [(attempt.id == first.id, attempt.state) for attempt in attempts(stack.world, episode.id)]
        assert states == [(True, "lost"), (False, "scored")]
        assert worker.process.poll() is None

    def test_a_worker_starts_without_database_and_broker_and_waits_for_them(self, stack: WorkerStack) -> None:
        stack.stop_postgres()
        stack.stop_broker()
        worker = stack.start_worker(wait=False)
        try:
            until(lambda: worker.said("no work can be taken"), 60.0)
            assert not worker.said("registered as")
            stack.start_postgres()
            until(lambda: worker.said("registered as"), 60.0)
            run = submit(stack, 2)
            assert finished(stack.world, run.id, 60.0)[0].state == "scored"
        finally:
            stack.start_broker()
            stack.stop_workers()


@pytest.mark.sampled(1)
class TestStopped:
    def test_cancel_in_mid_episode(self, stack: WorkerStack, worker: StartedWorker) -> None:
        run = submit(stack, 400)
        under_way(stack, run.id)
        processes = select_living(family(worker), is_screen)
        stack.world.do(cancel_run, run.id)
        (episode,) = finished(stack.world, run.id, 20.0)
        assert (episode.state, episode.score) == ("cancelled", None)
        until(gone(processes), 20.0, what="the desktop is gone")

    def test_a_stopped_worker_hands_its_attempt_back_and_leaves_nothing(
        self, stack: WorkerStack, worker: StartedWorker
    ) -> None:
        run = submit(stack, 400)
        under_way(stack, run.id)
        processes = family(worker)
        assert worker.stop(12.0) == 0
        episode, attempt = current(stack, run.id)
        assert attempt is not None
        assert (attempt.state, attempt.failure_class) == ("lost", "cluster")
        assert attempt.failure_message == "the worker was stopped"
        assert episode.state == "waiting"
        until(gone(processes), what="nothing of the worker is left")
        stack.world.do(cancel_run, run.id)

    def test_worker_stops_during_a_broker_outage(self, stack: WorkerStack, worker: StartedWorker) -> None:
        stack.stop_broker()
        try:
            until(lambda: worker.said("Cannot connect to redis"), 20.0)
            assert worker.stop(12.0) == 0
        finally:
            stack.start_broker()


class TestTwoRuns:
    @pytest.mark.usefixtures("worker")
    def test_at_once_on_two_slots(self, stack: WorkerStack) -> None:
        runs = [submit(stack, 12), submit(stack, 12)]
        until(
            lambda: all(current(stack, run.id)[0].state == "running" for run in runs),
            30.0,
            what="both runs are under way at the same time",
        )
        for run in runs:
            assert finished(stack.world, run.id, 60.0)[0].state == "scored"


class TestTraces:
    def test_one_trace_covers_request_to_score(
        self, stack: WorkerStack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with trace_receiver() as receiver:
            monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.address)
            monkeypatch.setitem(stack.environment, "OTEL_EXPORTER_OTLP_ENDPOINT", receiver.address)
            stack.start_worker()
            tracing.begin("deskarena-api")
            try:
                client = client_of(stack.world, tmp_path)
                body = {"benchmark": "starter", "agent": "oracle", "tasks": [TASK]}
                run = client.post("/api/v1/runs", json=body).json()
            finally:
                tracing.end()
            (episode,) = finished(stack.world, UUID(run["id"]), 60.0)
            stack.stop_workers()
        spans = [span for span in receiver.spans if span.trace_id == run["trace_id"]]
        names = {span.span_id: span.name for span in spans}
        parents = {span.name: names.get(span.parent, "") for span in spans}
        assert parents == {
            "POST /api/v1/runs": "",
            "submit run": "POST /api/v1/runs",
            "claim episode": "submit run",
            "lease": "claim episode",
            "attempt": "lease",
            "reset": "attempt",
            "health": "attempt",
            "setup": "attempt",
            "invoke_agent": "attempt",
            "action": "invoke_agent",
            "evaluation": "attempt",
        }
        by_name = {span.name: span for span in spans}
        assert [names[link] for link in by_name["claim episode"].links] == ["submit run"]
        assert by_name["submit run"].service == "deskarena-api"
        assert by_name["attempt"].service == "deskarena-worker"
        assert by_name["attempt"].attributes["deskarena.score"] == episode.score
        assert by_name["reset"].attributes["deskarena.reset.path"] == "new"
