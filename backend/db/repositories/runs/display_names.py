"""Names that the REST API shows beside ids, fetched for many rows at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.db.models import Actor, Agent, Attempt, Benchmark, Event, Node, Run, Slot, TaskSet, Worker


@dataclass(frozen=True)
class RunNames:
    """What a run's ids stand for."""

    benchmark: str
    task_set: TaskSet
    agent: Agent
    actor: str


@dataclass(frozen=True)
class AttemptLocation:
    """Where an attempt ran."""

    worker: str
    node: str
    provider: str
    index: int


def run_names(session: Session, run_ids: Sequence[UUID]) -> dict[UUID, RunNames]:
    """Names by run."""
    query = (
        select(Run.id, Benchmark.name, TaskSet, Agent, Actor.name)
        .join(TaskSet, TaskSet.id == Run.task_set_id)
        .join(Benchmark, Benchmark.id == TaskSet.benchmark_id)
        .join(Agent, Agent.id == Run.agent_id)
        .join(Actor, Actor.id == Run.actor_id)
        .where(Run.id.in_(run_ids))
    )
    return {row[0]: RunNames(row[1], row[2], row[3], row[4]) for row in session.execute(query)}


def places(session: Session, attempt_ids: Sequence[UUID]) -> dict[UUID, AttemptLocation]:
    """Worker and slot by attempt."""
    query = (
        select(Attempt.id, Worker.name, Node.name, Slot.provider, Slot.index)
        .join(Worker, Worker.id == Attempt.worker_id)
        .join(Slot, Slot.id == Attempt.slot_id)
        .join(Node, Node.id == Slot.node_id)
        .where(Attempt.id.in_(attempt_ids))
    )
    return {row[0]: AttemptLocation(row[1], row[2], row[3], row[4]) for row in session.execute(query)}


def newest_event(session: Session) -> UUID | None:
    """Id of the newest event of any run: when it changes, something has happened somewhere."""
    return session.scalar(select(Event.id).order_by(Event.id.desc()).limit(1))
