"""Episodes that have just begun, with all that a worker needs to play them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Task
from backend.db.repositories import benchmarks, external_assets, tasks
from backend.db.repositories.scheduling import Begun
from backend.domain import benchmarks as domain_benchmarks
from backend.domain import task as domain
from backend.domain.errors import NotFound
from backend.domain.image_offers import ImageOffer, image_for
from backend.domain.machine_image import DEFAULT
from backend.domain.run import RunConfig
from backend.domain.slots import SlotRef
from backend.domain.trajectory import Decision
from backend.services.benchmark_variants import task_of
from backend.services.replays import recorded_decisions


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
    task: domain.Task
    config: RunConfig
    seed: int
    attempt_number: int
    assets: Mapping[str, str]
    trajectory: tuple[Decision, ...] = ()
    benchmark: str = ""
    image: str = DEFAULT


@dataclass(frozen=True)
class Place:
    """Where an attempt takes place: a slot, the lease on it, and whose it is. `slot.fence` is the lease's token."""

    worker_id: UUID
    lease_id: UUID
    slot_id: UUID
    slot: SlotRef
    provider: str


@dataclass(frozen=True)
class RunFacts:
    """What is needed of a run to begin its episodes. `queued`: none has begun; `human`: a person is the agent."""

    project_id: UUID
    task_set_id: UUID
    config: Mapping[str, Any]
    queued: bool = False
    human: bool = False


@dataclass(frozen=True)
class SetFacts:
    """What never changes of a task set: hashes of its assets by name, and its benchmark's name."""

    assets: Mapping[str, str]
    benchmark: str


_KEPT = 200
_sets: dict[UUID, SetFacts] = {}


@dataclass
class Claims:
    """Makes the claims of one transaction; what several of them share is read once."""

    session: Session
    runs: Mapping[UUID, RunFacts]
    images: Sequence[ImageOffer]
    _configs: dict[UUID, RunConfig] = field(default_factory=dict)

    def make(self, begun: Sequence[tuple[Begun, UUID, Place]]) -> list[Claim]:
        """One claim for each (episode, id of its attempt, where).

        Raises:
            NotFound: a task is gone.
        """
        rows = {row.id: row for row in tasks.by_ids(self.session, {each.task_id for each, _, _ in begun})}
        return [self._one(each, rows.get(each.task_id), attempt_id, place) for each, attempt_id, place in begun]

    def _one(self, begun: Begun, row: Task | None, attempt_id: UUID, place: Place) -> Claim:
        if row is None:
            raise NotFound(f"the task {begun.task_id} is gone")
        run, config = self.runs[begun.run_id], self._config(begun.run_id)
        task, kept = task_of(self.session, row, run.config), _facts(self.session, run.task_set_id)
        return Claim(
            fence=Fence(attempt_id, place.slot.fence),
            attempt_id=attempt_id,
            episode_id=begun.id,
            run_id=begun.run_id,
            task_id=row.id,
            lease_id=place.lease_id,
            provider=place.provider,
            slot=place.slot,
            task=task,
            config=config,
            seed=begun.seed,
            attempt_number=begun.number,
            assets=self._files(run, task, kept),
            trajectory=recorded_decisions(self.session, config, row, begun.repeat),
            benchmark=kept.benchmark,
            image=image_for(self.images, config.desktop_image, task.labels.os),
        )

    def _config(self, run_id: UUID) -> RunConfig:
        if run_id not in self._configs:
            self._configs[run_id] = RunConfig.model_validate(self.runs[run_id].config)
        return self._configs[run_id]

    def _files(self, run: RunFacts, task: domain.Task, kept: SetFacts) -> Mapping[str, str]:
        wanted = domain_benchmarks.external_assets(task)
        return {**kept.assets, **external_assets.hashes(self.session, run.project_id, wanted)}


def _facts(session: Session, task_set_id: UUID) -> SetFacts:
    if task_set_id not in _sets:
        if len(_sets) >= _KEPT:
            _sets.clear()
        assets = benchmarks.assets(session, task_set_id)
        _sets[task_set_id] = SetFacts(assets, benchmarks.name_of(session, task_set_id))
    return _sets[task_set_id]
