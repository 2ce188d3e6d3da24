"""A rolling restart of every process during a run and with load on the service, and its report."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, select

from backend.db.models import Event, Run
from backend.domain.model.run import Budget, ScreenSize
from tests.integration.worker.in_process import attempts, episodes, evaluations, finished
from tests.waiting import until
from tools.rolling_restart.load import KEYS, PAUSE, ClientLoad, Tally
from tools.rolling_restart.site import Site

TASK = "editor/add_milk"
SHORT = {"benchmark": "starter", "agent": "noop", "provider": "local", "tasks": [TASK]}
"""Submits of clients, each with one of a few keys."""


@dataclass(frozen=True)
class RollReport:
    """Result of a rolling restart.

    Attributes:
        tally: of requests.
        api_seconds: how long each API process took to end and be ready again.
        worker_seconds: the same of workers.
        episodes: of the run.
        lost: episodes without a score.
        double: episodes with more than one.
        handed_back: attempts that did not end within the grace and were made again.
        runs: that the submissions made; as many as there were keys.
        missed: events of the run that the listener did not get, or got twice or out of order.
    """

    tally: Tally
    api_seconds: tuple[float, ...]
    worker_seconds: tuple[float, ...]
    episodes: int
    lost: int
    double: int
    handed_back: int
    runs: int
    missed: int

    @property
    def faults(self) -> list[str]:
        """Violations of what a rolling restart promises."""
        counts = {
            "requests failed": len(self.tally.failed),
            "episodes lost": self.lost,
            "episodes scored twice": self.double,
            "runs too many or too few": abs(self.runs - KEYS),
            "events missed": self.missed,
        }
        return [f"{count} {label}" for label, count in counts.items() if count]


def roll(  # noqa: PLR0913 - how much work, and who hears of it
    site: Site,
    *,
    rounds: int,
    repeats: int,
    steps: int,
    pause: float = PAUSE,
    say: Callable[[str], None] = lambda _: None,
) -> RollReport:
    """Replaces each API process and each worker, one after the other, under load.

    Args:
        site: the running service.
        rounds: how often each is replaced.
        repeats: number of the run's episodes.
        steps: of each.
        pause: seconds between two requests of a client.
        say: prints progress.
    """
    world = site.stack.world
    run = world.submit(
        "random",
        tasks=(TASK,),
        repeats=repeats,
        budget=Budget(max_steps=steps),
        screen=ScreenSize(width=1280, height=800),
    )
    api_seconds: list[float] = []
    worker_seconds: list[float] = []
    with ClientLoad(site.address, run.id, SHORT, pause) as load:
        until(lambda: load.tally.total > 50 and load.tally.events, 60.0, what="the load is under way")
        for number in range(rounds):
            for api in site.apis:
                say(f"round {number + 1}: an API process")
                api_seconds.append(_seconds_of(lambda api=api: site.restart_api(api)))  # type: ignore[misc] # its default
            for worker in list(site.workers):
                say(f"round {number + 1}: a worker")
                worker_seconds.append(_seconds_of(lambda worker=worker: site.restart_worker(worker)))  # type: ignore[misc]
        say("the run's end")
        finished(world, run.id, 60.0 + 30.0 * repeats)
        newest = world.do(lambda session: session.scalar(select(func.max(Event.seq)).where(Event.run_id == run.id)))
        until(lambda: load.tally.events[-1] == newest, 20.0, what="the listener has heard the last event")
    return _report(site, run.id, load.tally, tuple(api_seconds), tuple(worker_seconds))


def _seconds_of(work: Callable[[], object]) -> float:
    start = time.monotonic()
    work()
    return time.monotonic() - start


def _report(
    site: Site, run_id: UUID, tally: Tally, api_seconds: tuple[float, ...], worker_seconds: tuple[float, ...]
) -> RollReport:
    world = site.stack.world
    every = episodes(world, run_id)
    tries = {episode.id: attempts(world, episode.id) for episode in every}
    states = Counter(attempt.state for group in tries.values() for attempt in group)
    scores = {key: sum(len(evaluations(world, attempt.id)) for attempt in group) for key, group in tries.items()}
    return RollReport(
        tally,
        api_seconds,
        worker_seconds,
        episodes=len(every),
        lost=sum(episode.state != "scored" for episode in every),
        double=sum(count > 1 for count in scores.values()),
        handed_back=states["lost"],
        runs=world.do(lambda session: session.scalar(select(func.count()).select_from(Run)) or 0) - 1,
        missed=sum(number != position for position, number in enumerate(tally.events, 1)),
    )
