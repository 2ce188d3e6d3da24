"""Types of claims: episodes that have just started, with everything that a worker needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Task
from backend.db.repositories.benchmarks import benchmarks, web_assets
from backend.db.repositories.scheduling.scheduler import StartedEpisode
from backend.db.session import after_commit
from backend.domain import benchmarks as domain_benchmarks
from backend.domain.machines.image_offers import ImageOffer, image_for
from backend.domain.machines.machine_image import DEFAULT
from backend.domain.machines.slots import SlotRef
from backend.domain.model import task as domain
from backend.domain.model.run import RunConfig
from backend.domain.model.trajectory import Decision
from backend.services.lru_cache import LruCache
from backend.services.runs.replays import REPLAY, recorded_decisions
from backend.telemetry import tracing


@dataclass(frozen=True)
class Fence:
    """Proof of every write of an attempt: attempt id, and fencing token of its lease."""

    attempt_id: UUID
    token: int


@dataclass(frozen=True)
class Claim:
    """An episode to run, with everything needed.

    Attributes:
        fence: for every function of `backend.services.attempts.attempts`.
        slot: of the provider.
        seed: the episode's own.
        attempt_number: from 1.
        assets: hash of every asset of the task set by name, and of every existing web file of the task by address.
        trajectory: recorded decisions, for the `replay` agent; else empty.
        benchmark: the benchmark's name, for messages.
        image: of the provider, as its DesktopSpec names it.
        trace_parent: context of its claim in the traces; empty without.
    """

    fence: Fence
    attempt_id: UUID
    episode_id: UUID
    run_id: UUID
    task_id: UUID
    lease_id: UUID
    provider: str
    slot: SlotRef
    task: domain.Task
    config: RunConfig
    seed: int
    attempt_number: int
    assets: Mapping[str, str]
    trajectory: tuple[Decision, ...] = ()
    benchmark: str = ""
    image: str = DEFAULT
    trace_parent: str = ""


@dataclass(frozen=True)
class LeasedSlot:
    """Place of an attempt: slot, lease and worker. `slot.fence` is the lease's fencing token."""

    worker_id: UUID
    lease_id: UUID
    slot_id: UUID
    slot: SlotRef
    provider: str


@dataclass(frozen=True)
class RunFacts:
    """Facts of a run for starting its episodes.

    Attributes:
        queued: none has started.
        human: a person is the agent.
        trace_parent, trace_per_episode: see the model of runs.
    """

    project_id: UUID
    task_set_id: UUID
    config: RunConfig
    queued: bool = False
    human: bool = False
    trace_parent: str = ""
    trace_per_episode: bool = False


@dataclass(frozen=True)
class TaskSetFacts:
    """Immutable facts of a task set: hashes of assets by name, and its benchmark's name."""

    assets: Mapping[str, str]
    benchmark: str


_sets: LruCache[UUID, TaskSetFacts] = LruCache(200)


@dataclass(frozen=True)
class StartingEpisode:
    """An episode that starts, its task as used by its run, and its run."""

    episode: StartedEpisode
    task: domain.Task
    run: RunFacts


def begin_claim_span(session: Session, starting: "StartingEpisode", attempt_id: UUID, leased_slot: LeasedSlot) -> str:
    """Context of a span that ends with the commit; without one it is never sent. Empty without traces.

    It links to the submission. It also continues its trace, unless the run has one for each episode: then all attempts
    of the episode share a trace whose id follows from the episode's.
    """
    if not tracing.is_on():
        return ""
    run, episode = starting.run, starting.episode
    apart = run.trace_per_episode or not run.trace_parent
    span = tracing.begin_span(
        "claim episode",
        {
            "messaging.system": "postgresql",
            "messaging.destination.name": "episode",
            "messaging.operation.name": "claim",
            "messaging.operation.type": "receive",
            "messaging.message.id": str(episode.id),
            "deskarena.run.id": str(episode.run_id),
            "deskarena.episode.id": str(episode.id),
            "deskarena.attempt.id": str(attempt_id),
            "deskarena.attempt.number": episode.number,
            "deskarena.worker.id": str(leased_slot.worker_id),
        },
        kind="consumer",
        parent="" if apart else run.trace_parent,
        trace_id=episode_trace_id(episode.id) if apart else None,
        links=[run.trace_parent] if run.trace_parent else [],
    )
    after_commit(session, f"trace:{attempt_id}", span.end)
    return span.traceparent


def episode_trace_id(episode_id: UUID) -> int:
    """Id of the trace of an episode; spread evenly, as samplers choose by it."""
    return int.from_bytes(sha256(b"trace" + episode_id.bytes).digest()[:16])


@dataclass
class Claims:
    """Creates the claims of one transaction; shared data are read once."""

    session: Session
    images: Sequence[ImageOffer]

    def make(self, starting: StartingEpisode, attempt_id: UUID, leased_slot: LeasedSlot) -> Claim:
        """The claim of an episode for the given attempt and place."""
        episode, task, run = starting.episode, starting.task, starting.run
        facts = _facts(self.session, run.task_set_id)
        return Claim(
            fence=Fence(attempt_id, leased_slot.slot.fence),
            attempt_id=attempt_id,
            episode_id=episode.id,
            run_id=episode.run_id,
            task_id=episode.task_id,
            lease_id=leased_slot.lease_id,
            provider=leased_slot.provider,
            slot=leased_slot.slot,
            task=task,
            config=run.config,
            seed=episode.seed,
            attempt_number=episode.number,
            assets=self._files(run, task, facts),
            trajectory=self._trajectory(episode, run.config),
            benchmark=facts.benchmark,
            image=image_for(self.images, run.config.desktop_image, task.labels.os),
            trace_parent=begin_claim_span(self.session, starting, attempt_id, leased_slot),
        )

    def _trajectory(self, episode: StartedEpisode, config: RunConfig) -> tuple[Decision, ...]:
        if config.agent != REPLAY:
            return ()
        return recorded_decisions(
            self.session, config, self.session.get_one(Task, episode.task_id), episode.repeat_index
        )

    def _files(self, run: RunFacts, task: domain.Task, facts: TaskSetFacts) -> Mapping[str, str]:
        urls = domain_benchmarks.external_assets(task)
        return {**facts.assets, **web_assets.hashes(self.session, run.project_id, urls)}


def _facts(session: Session, task_set_id: UUID) -> TaskSetFacts:
    return _sets.get_or_make(
        task_set_id,
        lambda: TaskSetFacts(benchmarks.assets(session, task_set_id), benchmarks.name_of(session, task_set_id)),
    )
