"""Work is taken here: a lease on a slot, then an episode with a new attempt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy import func
from sqlalchemy.orm import Session

from backend.db.models import Agent, Attempt, Episode, Lease, Run, Slot, Worker
from backend.db.models.words import Controller, WorkerState
from backend.db.repositories import benchmarks, episodes, external_assets, leases, runs, tasks, workers
from backend.db.repositories.episodes import Wanted
from backend.domain import benchmarks as domain_benchmarks
from backend.domain.episode import AttemptState, EpisodeState, RunState
from backend.domain.errors import LeaseLost, NotFound
from backend.domain.image_offers import ImageOffer, image_for
from backend.domain.machine_image import DEFAULT
from backend.domain.run import RunConfig
from backend.domain.slots import SlotRef
from backend.domain.task import Task
from backend.domain.trajectory import Decision
from backend.services import events, licences
from backend.services.benchmark_variants import task_of
from backend.services.capabilities import images_of, programs_of
from backend.services.events import Kind
from backend.services.moves import move
from backend.services.recovery import drain, reap, release_lease
from backend.services.replays import recorded_decisions
from backend.services.workers import register_worker, update_worker, worker_heartbeat

__all__ = [
    "Claim",
    "Fence",
    "acquire_lease",
    "claim_episode",
    "drain",
    "reap",
    "register_worker",
    "release_lease",
    "update_worker",
    "worker_heartbeat",
]

_ROUNDS = 8


@dataclass(frozen=True)
class Fence:
    """What every write of an attempt shows: which attempt, and the token of the lease it was begun under."""

    attempt_id: UUID
    token: int


@dataclass(frozen=True)
class Claim:
    """An episode to run, with all that it takes.

    Attributes:
        fence: for every function of `backend.services.attempts`.
        slot: of the provider.
        seed: the episode's own.
        attempt_number: from 1.
        assets: hash of every asset of the task set, by the name that steps use, and of every file of the web that the
            task needs and that is there, by its address.
        trajectory: recorded decisions, for the `replay` agent; else empty.
        benchmark: the benchmark's name, for words to people.
        image: of the provider, as its DesktopSpec names it.
    """

    fence: Fence
    attempt_id: UUID
    episode_id: UUID
    run_id: UUID
    task_id: UUID
    lease_id: UUID
    provider: str
    slot: SlotRef
    task: Task
    config: RunConfig
    seed: int
    attempt_number: int
    assets: Mapping[str, str]
    trajectory: tuple[Decision, ...] = ()
    benchmark: str = ""
    image: str = DEFAULT


def acquire_lease(session: Session, worker_id: UUID, provider: str) -> Lease | None:
    """A lease on a free slot of the worker's node, if there is one and an episode waits that this worker can do.

    Asking costs nothing and leaves nothing behind when there is no work, so a worker may ask every 2 s. Follow it
    by `claim_episode` in the same transaction; if that finds nothing after all (somebody was faster), release it.

    Args:
        session: the transaction.
        worker_id: who asks. A worker that drains or was given up gets none.
        provider: which kind of desktop.
    """
    worker = workers.get(session, worker_id)
    if worker is None or worker.state != WorkerState.ONLINE:
        return None
    if episodes.fairest_run(session, _wanted(session, worker, provider), ()) is None:
        return None
    slots = leases.free_slots(session, worker, provider, 1)
    if not slots:
        return None
    lease = Lease(slot_id=slots[0].id, worker_id=worker.id)
    session.add(lease)
    session.flush()  # The caller needs the token.
    return lease


def claim_episode(session: Session, lease: Lease) -> Claim | None:
    """Begins an attempt at the next waiting episode under `lease`; None if nothing waits for this worker.

    Which one: of the runs that have an episode for this worker, one for which a person waits (they act in it, or it
    tries their draft), then the one with the fewest episodes under way, then the oldest; of its episodes the one with
    the highest priority, then the oldest. One whose task needs a licence waits until its seats are free; the attempt
    holds them while it is live. A lease carries one attempt at a time and may be used again after that has ended.

    Raises:
        LeaseLost: the lease was released or taken away.
    """
    idle = leases.lock_idle(session, lease.id)
    if idle is None:
        raise LeaseLost("the lease is not ours, or is in use")
    held, slot, worker = idle
    wanted = _wanted(session, worker, slot.provider)
    without: list[UUID] = []
    for left in reversed(range(_ROUNDS)):
        run_id = episodes.fairest_run(session, wanted, without)
        if run_id is None:
            return None
        with session.begin_nested() as savepoint:
            taken = _take(session, run_id, wanted, without, sure=left == 0)
            if taken is None:
                # Gives the run's lock back: two locked runs at once could wait for each other in a circle.
                savepoint.rollback()
        if taken is not None:
            return _begin(session, *taken, held, slot, images_of(worker.capabilities, slot.provider))
    return None


def _take(
    session: Session, run_id: UUID, wanted: Wanted, without: list[UUID], *, sure: bool
) -> tuple[Run, Episode] | None:
    """Locks the run and its next episode, if under the lock it is still that run's turn."""
    run = runs.lock(session, run_id)
    if run is None:
        return None
    if not sure and episodes.fairest_run(session, wanted, without) != run_id:
        return None
    active = RunState(run.state) in {RunState.QUEUED, RunState.RUNNING}
    episode = episodes.next_waiting(session, run_id, wanted) if active else None
    if episode is not None and _licensed(session, episode):
        # Others may have taken a seat since we looked: look again where nobody else can.
        episode = episodes.next_waiting(session, run_id, replace(wanted, seats=licences.free(session, locked=True)))
    if episode is None:
        without.append(run_id)
        return None
    return run, episode


def _licensed(session: Session, episode: Episode) -> bool:
    task = tasks.get(session, episode.task_id)
    return task is not None and bool(task.licences)


def _begin(  # noqa: PLR0913, PLR0917 - the rows that make a claim
    session: Session, run: Run, episode: Episode, lease: Lease, slot: Slot, images: Sequence[ImageOffer]
) -> Claim:
    if RunState(run.state) is RunState.QUEUED:
        move(session, run, run, RunState.RUNNING, started_at=run.started_at or func.now())
    number = episode.attempts_count + 1
    started = {"started_at": episode.started_at or func.now(), "attempts_count": number, "reason": ""}
    move(session, run, episode, EpisodeState.RUNNING, **started)
    attempt = Attempt(
        episode_id=episode.id,
        number=number,
        worker_id=lease.worker_id,
        slot_id=lease.slot_id,
        lease_id=lease.id,
        fencing_token=lease.fencing_token,
        controller=_controller(session, run),
        person=dict(episode.person) if episode.person else None,
    )
    session.add(attempt)
    session.flush()  # The event below refers to it.
    told = {"number": number, "state": AttemptState.PREPARING.value, "worker": str(lease.worker_id)}
    events.append(session, run, Kind.ATTEMPT_STARTED, told, episode_id=episode.id, attempt_id=attempt.id)
    claim = _claim(session, run, episode, attempt, slot)
    image = image_for(images, claim.config.desktop_image, claim.task.labels.os)
    attempt.desktop = {"image": image}
    return replace(claim, image=image)


def _controller(session: Session, run: Run) -> str:
    agent = session.get(Agent, run.agent_id)
    return (Controller.PERSON if agent is not None and agent.human else Controller.AGENT).value


def _claim(session: Session, run: Run, episode: Episode, attempt: Attempt, slot: Slot) -> Claim:
    row = tasks.get(session, episode.task_id)
    if row is None:
        raise NotFound(f"the task {episode.task_id} is gone")
    config = RunConfig.model_validate(run.config)
    task = task_of(session, row, run.config)
    files = external_assets.hashes(session, run.project_id, domain_benchmarks.external_assets(task))
    return Claim(
        fence=Fence(attempt.id, attempt.fencing_token),
        attempt_id=attempt.id,
        episode_id=episode.id,
        run_id=run.id,
        task_id=row.id,
        lease_id=attempt.lease_id,
        provider=slot.provider,
        slot=SlotRef(slot.index, workers.cluster_node(session, slot.node_id), str(slot.id), attempt.fencing_token),
        task=task,
        config=config,
        seed=episode.seed,
        attempt_number=attempt.number,
        assets={**benchmarks.assets(session, row.task_set_id), **files},
        trajectory=recorded_decisions(session, config, row, episode),
        benchmark=benchmarks.name_of(session, row.task_set_id),
    )


def _wanted(session: Session, worker: Worker, provider: str) -> Wanted:
    agents = worker.capabilities.get("agents", {})
    able = tuple(name for name, offer in agents.items() if not offer.get("reason"))
    programs = programs_of(worker.capabilities, provider)
    images = tuple(image.name for image in images_of(worker.capabilities, provider) if not image.reason)
    return Wanted(provider=provider, programs=programs, agents=able, images=images, seats=licences.free(session))
