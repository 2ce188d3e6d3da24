"""A worker inside the test process, with desktops in memory and everything else real."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import select

from backend.config import Settings
from backend.db.models import Attempt, Episode, Lease, Run, Step
from backend.db.models import Evaluation as EvaluationRow
from backend.domain.model.run import ScreenSize
from backend.domain.model.task import LoadedBenchmark, Task
from backend.domain.ports.desktop import Provider
from backend.services.capacity.run_request import RunRequest
from backend.services.runs.runs import submit_run
from tests.factories.claims import note_task
from tests.factories.records import World
from tests.fakes.evaluator import InProcessJudge
from tests.fakes.provider import FakeProvider
from tests.waiting import until
from worker.base.database import Database
from worker.bootstrap.assembly import works_of
from worker.scheduling.dispatcher import Dispatcher

SCREEN = ScreenSize(width=640, height=480)
ENDED = {"scored", "lost", "cancelled", "not_runnable"}


class InProcessWorker:
    """Two slots of the `fake` provider, or of another one."""

    def __init__(self, settings: Settings, world: World, other: Provider | None = None) -> None:
        self.provider = FakeProvider()
        used = other or self.provider
        works = works_of(settings, Database(world.factory), world.store, {used.name: used}, InProcessJudge())
        self.dispatcher = Dispatcher(works)
        self.dispatcher.start()
        self._stopped = False
        until(lambda: self.dispatcher.registered, 30.0, what="the worker is registered")

    def stop(self, seconds: float = 6.0) -> None:
        """In good order, within some seconds."""
        if not self._stopped:
            self._stopped = True
            self.dispatcher.stop(seconds)


def benchmark_of(*tasks: Task) -> LoadedBenchmark:
    """A benchmark of these tasks, or of one."""
    return LoadedBenchmark(kind="starter", tasks=tasks or (note_task(),))


def submit(world: World, agent: str = "noop", provider: str = "fake", **more: Any) -> Run:
    """A run on the `fake` provider, or on another one."""
    return world.submit(agent, provider=provider, screen=SCREEN, **more)


def submit_together(world: World, *agents: str) -> list[Run]:
    """Several such runs in one transaction: a worker that looks for work in between sees all of them or none."""
    with world.work() as session:
        project, actor = world.who(session)
        requests = [RunRequest(benchmark="starter", agent=agent, provider="fake", screen=SCREEN) for agent in agents]
        return [submit_run(session, request, project=project, actor=actor) for request in requests]


def episodes(world: World, run_id: UUID) -> list[Episode]:
    """The run's episodes."""
    with world.work() as session:
        return list(session.scalars(select(Episode).where(Episode.run_id == run_id).order_by(Episode.id)))


def attempts(world: World, episode_id: UUID) -> list[Attempt]:
    """The episode's attempts."""
    with world.work() as session:
        return list(session.scalars(select(Attempt).where(Attempt.episode_id == episode_id).order_by(Attempt.number)))


def steps(world: World, attempt_id: UUID) -> list[Step]:
    """The attempt's steps."""
    with world.work() as session:
        return list(session.scalars(select(Step).where(Step.attempt_id == attempt_id).order_by(Step.index)))


def evaluations(world: World, attempt_id: UUID) -> list[EvaluationRow]:
    """The attempt's evaluations."""
    with world.work() as session:
        return list(session.scalars(select(EvaluationRow).where(EvaluationRow.attempt_id == attempt_id)))


def leases(world: World) -> list[Lease]:
    """Every lease that there ever was."""
    with world.work() as session:
        return list(session.scalars(select(Lease).order_by(Lease.fencing_token)))


def finished(world: World, run_id: UUID, seconds: float = 30.0) -> Sequence[Episode]:
    """The run's episodes once all have ended."""

    def ended() -> Sequence[Episode]:
        found = episodes(world, run_id)
        return found if all(episode.state in ENDED for episode in found) else ()

    return until(ended, seconds, what="all episodes have ended")
