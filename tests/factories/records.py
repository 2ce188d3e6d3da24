"""A small installation in a database: project, benchmark, workers, runs; and shortcuts through an episode's life."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from backend.db.models import Actor, Base, Episode, Project, Run, Worker
from backend.db.session import SessionFactory, session_factory, unit_of_work
from backend.domain.errors import AttemptFailure, FailureClass
from backend.domain.model.episode import EndedBy
from backend.domain.model.score import Evaluation
from backend.domain.model.task import LoadedBenchmark
from backend.domain.model.trajectory import Action, ActionType, Decision, Frame, Observation, StepRecord
from backend.services.accounts.projects import actor_for, default_project
from backend.services.artifacts.artifacts import ArtifactRef, register
from backend.services.attempts import attempts
from backend.services.attempts.attempts import StepRow
from backend.services.benchmarks.benchmarks import import_benchmark
from backend.services.capacity.run_request import RunRequest
from backend.services.capacity.workers import WorkerInfo, register_worker
from backend.services.results import rollup_jobs
from backend.services.runs.runs import submit_run
from backend.services.scheduling import claims
from backend.services.scheduling.claims import Claim
from tests.databases import engine_on, lent_engine
from tests.factories.tasks import make_benchmark
from tests.fakes.store import MemoryStore

PNG = b"\x89PNG picture"
_EMPTY_ALL = "; ".join(str(delete(table)) for table in reversed(Base.metadata.sorted_tables))


def capabilities(programs: tuple[str, ...] = ("mousepad",), **providers: Mapping[str, Any]) -> dict[str, Any]:
    """Capabilities of a worker of the `local` provider."""
    offer = {"about": "", "schema": {}, "observation": "screenshot", "action_space": "computer_13"}
    names = ("noop", "always_fail", "random", "oracle", "replay")
    return {
        "providers": {"local": {"ok": True, "reason": "", "programs": list(programs)}, **providers},
        "agents": {name: offer | {"privileged": name in {"oracle", "replay"}} for name in names},
        "observations": ["screenshot", "a11y_tree"],
        "action_spaces": ["computer_13"],
        "models": {},
    }


def unfenced(**more: Any) -> dict[str, Any]:
    """Capabilities of one that has no fence for evaluation functions in Python, as in a cluster's pod."""
    return {**capabilities(), "evaluators": {"sandbox": "limits"}, **more}


def fenced(**more: Any) -> dict[str, Any]:
    """Capabilities of one with bubblewrap."""
    return {**capabilities(), "evaluators": {"sandbox": "bwrap"}, **more}


@dataclass
class World:
    """An installation. Every method is one transaction of its own, as in the product."""

    factory: SessionFactory
    store: MemoryStore = field(default_factory=MemoryStore)

    @contextmanager
    def work(self) -> Iterator[Session]:
        """One transaction."""
        with unit_of_work(self.factory) as session:
            yield session

    def do(self, call: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """One call of a service in its own transaction."""
        with self.work() as session:
            return call(session, *args, **named)

    def who(self, session: Session) -> tuple[Project, Actor]:
        """Project and actor."""
        project = default_project(session)
        return project, actor_for(session, project)

    def benchmark(self, loaded: LoadedBenchmark | None = None, name: str = "starter") -> UUID:
        """Imports a benchmark; returns the task set's id."""
        with self.work() as session:
            task_set, _ = import_benchmark(session, loaded or make_benchmark(), name=name, store=self.store)
            return task_set.id

    def worker(self, name: str = "w1", slots: int = 2, node: str = "n1", pid: int = 1, **more: Any) -> Worker:
        """Registers a worker; those of the same node are left alive."""
        info = WorkerInfo(
            name=name,
            node=node,
            version="1",
            slots=more.pop("slots_by_provider", {"local": slots}),
            capabilities=more.pop("capabilities", capabilities()),
            pid=pid,
            host=more.pop("host", node),
        )
        with self.work() as session:
            return register_worker(session, info, running=more.pop("running", lambda _: True))

    def submit(self, agent: str = "noop", benchmark: str = "starter", **more: Any) -> Run:
        """Submits a run."""
        with self.work() as session:
            project, actor = self.who(session)
            request = RunRequest(benchmark=benchmark, agent=agent, **more)
            return submit_run(session, request, project=project, actor=actor)

    def roll_up(self) -> int:
        """Computes every cube that is out of date, as workers do, without their rest; returns how many."""
        self.do(lambda session: session.execute(update(Run).values(rollup_seconds=0.0)))
        return rollup_jobs.renew_due(self.factory, limit=1000)

    def in_order(self) -> None:
        """Waiting episodes begin in the order of their submission, independent of their tasks' expected length."""
        with self.work() as session:
            session.execute(update(Episode).values(estimated_seconds=600.0))

    def claim(self, worker: Worker, provider: str = "local") -> Claim | None:
        """Lease and claim, as a worker's poll does."""
        with self.work() as session:
            return next(iter(claims.claim_many(session, worker.id, provider, 1)), None)

    def must_claim(self, worker: Worker) -> Claim:
        """The same where there is work for sure."""
        claim = self.claim(worker)
        assert claim is not None
        return claim

    def step(self, claim: Claim, index: int = 0, *, final: bool = False, picture: bytes = PNG) -> None:
        """Records one step with a picture."""
        self.do(attempts.record_step, claim.fence, step_row(self.store, index, final=final, picture=picture))

    def begin(self, claim: Claim) -> None:
        """From the claim to the agent's first look."""
        self.do(attempts.note_desktop, claim.fence, {"home": "overlay"})
        self.do(attempts.enter_running, claim.fence, {"reset": 0.5, "setup": 1.0})

    def run_to_evaluation(self, claim: Claim, steps: int = 2, ended_by: EndedBy = EndedBy.DONE) -> None:
        """From the claim to the evaluation."""
        self.begin(claim)
        for index in range(steps):
            self.step(claim, index)
        self.do(attempts.enter_evaluating, claim.fence, ended_by, {"agent": 2.0})

    def score(self, claim: Claim, score: float = 1.0, steps: int = 2) -> None:
        """Through the whole life of an attempt to its score, and gives the lease back."""
        self.run_to_evaluation(claim, steps)
        self.do(attempts.finish_scored, claim.fence, evaluation(score), [], {"evaluation": 0.2})
        self.do(claims.release_lease, claim.lease_id, "done")

    def score_only(self, claim: Claim, score: float = 1.0) -> None:
        """The last write of an attempt that is being evaluated."""
        self.do(attempts.finish_scored, claim.fence, evaluation(score), [], {})

    def lose(self, claim: Claim, failure: FailureClass = FailureClass.GUEST, *, after_action: bool = False) -> None:
        """Loses the attempt and gives the lease back."""
        broken = AttemptFailure(failure, "it_broke", "it broke")
        self.do(attempts.finish_lost, claim.fence, broken, {}, after_action=after_action)
        self.do(claims.release_lease, claim.lease_id, "lost")


def evaluation(score: float = 1.0) -> Evaluation:
    """A verdict with two measures."""
    return Evaluation(score=score, measures={"score": score, "S_int": 0.5})


def step_row(store: MemoryStore, index: int = 0, *, final: bool = False, picture: bytes = PNG) -> StepRow:
    """A step with a picture in the store."""
    ref = ArtifactRef(store.put(picture, "image/png"), len(picture), "image/png")
    record = StepRecord(
        index=index,
        observation=Observation(index=index, frame=Frame(data=picture, media_type="image/png", width=4, height=3)),
        decision=Decision()
        if final
        else Decision(actions=(Action(type=ActionType.CLICK, x=1, y=2),), explanation="I click"),
        results=({"final": True},) if final else ({},),
    )
    return StepRow(record=record, frame=ref)


def stored(session: Session, store: MemoryStore, data: bytes) -> str:
    """Bytes that the store has and the database knows."""
    sha256 = store.put(data, "text/plain")
    register(session, sha256, len(data), "text/plain")
    return sha256


@contextmanager
def world(url: str) -> Iterator[World]:
    """An installation in the database at `url`."""
    with engine_on(url, pool_size=30) as engine:
        yield World(session_factory(engine))


@contextmanager
def emptied(url: str) -> Iterator[World]:
    """An installation in the database at `url`, which is emptied afterwards: an eighth of what a new one costs."""
    with lent_engine(url, pool_size=30) as engine:
        yield World(session_factory(engine))
    with lent_engine(url, pool_size=30) as engine, engine.begin() as connection:
        connection.exec_driver_sql(_EMPTY_ALL)
