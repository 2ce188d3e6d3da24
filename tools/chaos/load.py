"""Load for the stack: runs over the REST API, a number of running episodes, and their expected scores."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from threading import Event, Lock, Thread
from typing import Any, TypeVar
from uuid import UUID

import httpx
from sqlalchemy import text

from backend.domain.errors import Unavailable
from tools.chaos.invariants import Expected
from tools.chaos.outside import AGENT, BUDGET, OutsideClient
from tools.chaos.stack import ChaosStack

SECONDS = 240.0
UNAVAILABLE = 503
T = TypeVar("T")
logger = logging.getLogger(__name__)


def insist(call: Callable[[], httpx.Response], seconds: float = 60.0) -> httpx.Response:
    """Retries until the API answers, as a script would.

    Raises:
        TimeoutError: it did not in time.
        HTTPStatusError: it refused.
    """
    deadline = time.monotonic() + seconds
    pause = Event()
    while True:
        try:
            answer = call()
        except httpx.TransportError as error:
            message = f"{type(error).__name__}: {error}"
        else:
            if answer.status_code != UNAVAILABLE:
                return answer.raise_for_status()
            message = answer.text
        if time.monotonic() > deadline:
            raise TimeoutError(f"the API did not answer in {seconds:g} s: {message}")
        pause.wait(0.3)


@dataclass(frozen=True)
class Workload:
    """The workload of a stack.

    Attributes:
        agents: to draw from; one may be there several times.
        best: the agent that solves every task.
        more: further fields of each run.
        outside: an infeasible task for an external program; empty = none.
    """

    benchmark: str
    tasks: Sequence[str]
    agents: Sequence[str]
    best: str
    provider: str = "local"
    more: Mapping[str, Any] = field(default_factory=dict)
    outside: str = ""


class EpisodeLoad:
    """Keeps some episodes running, in a background thread."""

    def __init__(self, stack: ChaosStack, work: Workload, random: Random) -> None:
        self._stack, self._random = stack, random
        self.work = work
        self._api = httpx.Client(base_url=stack.url, timeout=15.0)
        self._number = 0
        self._ended = Event()
        self._lock = Lock()
        self._thread: Thread | None = None
        self.program = OutsideClient(stack, work.outside, self.submit) if work.outside else None
        """Who acts in one episode at a time from outside."""
        self.target = 0
        self.runs: dict[UUID, int] = {}
        """Acknowledged submits: episodes by run."""

    def submit(self, agent: str, tasks: Sequence[str]) -> UUID:
        """Submits a run; retries with the same key while the API is unavailable."""
        with self._lock:
            self._number += 1
            key = f"chaos-{self._number}"
        body: dict[str, Any] = {
            "name": key,
            "benchmark": self.work.benchmark,
            "agent": agent,
            "tasks": list(tasks),
            "provider": self.work.provider,
        }
        body |= self.work.more
        if agent == AGENT:
            body["budget"] = {**body.get("budget", {}), **BUDGET}
        headers = {"Idempotency-Key": key}
        run = UUID(insist(lambda: self._api.post("/api/v1/runs", json=body, headers=headers), SECONDS).json()["id"])
        self.runs[run] = len(tasks)
        return run

    def start(self, count: int) -> None:
        """From now on that number of episodes is under way, as far as there are slots."""
        self.target = count
        if self._thread is None:
            self._thread = Thread(target=self._run, name="load", daemon=True)
            self._thread.start()
            if self.program is not None:
                self.program.start()

    def stop(self) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join(SECONDS)
        if self.program is not None:
            self.program.stop()
        self._api.close()

    def _run(self) -> None:
        while not self._ended.wait(0.5):
            try:
                missing = self.target - under_way(self._stack)
            except Unavailable:
                continue
            try:
                if missing > 0:
                    self.submit(
                        self._random.choice(self.work.agents),
                        self._random.sample(self.work.tasks, min(missing, 2, len(self.work.tasks))),
                    )
            except (TimeoutError, httpx.HTTPError):
                logger.exception("a run could not be submitted")


def under_way(stack: ChaosStack) -> int:
    """Waiting and running episodes of runs that are not paused."""
    query = """SELECT count(*) FROM episode e JOIN run r ON r.id = e.run_id
        WHERE e.state IN ('waiting', 'running') AND r.state IN ('queued', 'running')"""
    with stack.world.work() as session:
        return int(session.execute(text(query)).scalar_one())


def expected_scores(stack: ChaosStack, load: EpisodeLoad) -> Expected:
    """Runs every task once with each agent while nothing is broken.

    Raises:
        RuntimeError: an episode was not scored, or the best agent failed: the machine is unsuitable for measuring
            faults.
    """
    for agent in sorted(set(load.work.agents)):
        load.submit(agent, load.work.tasks)
    if load.program is not None:
        load.program.one()
    scores: dict[tuple[str, str], float] = {}
    for row in _ended_runs(stack):
        if row["score"] is None or (row["agent"] in {load.work.best, AGENT} and row["score"] < 1):
            text = f"{row['agent']} at {row['task']}: {row['outcome']} {row['score']} {row['failure_message']}"
            raise RuntimeError(f"without any fault, {text}")
        scores[row["agent"], row["task"]] = row["score"]
    return scores


def _ended_runs(stack: ChaosStack) -> Sequence[Mapping[str, Any]]:
    query = """SELECT a.name AS agent, t.domain || '/' || t.name AS task, e.outcome, e.score, e.failure_message,
            extract(epoch FROM e.ended_at - e.started_at) AS seconds
        FROM episode e JOIN run r ON r.id = e.run_id
        JOIN agent_configuration a ON a.id = r.agent_configuration_id JOIN task t ON t.id = e.task_id"""
    deadline, pause = time.monotonic() + SECONDS * 2, Event()
    while under_way(stack):
        if time.monotonic() > deadline:
            raise RuntimeError("the fault-free run did not end")
        pause.wait(0.5)
    with stack.world.work() as session:
        return [dict(row) for row in session.execute(text(query)).mappings()]
