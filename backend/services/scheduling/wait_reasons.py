"""Why episodes wait, and how many of a run can run in parallel: computed in one query batch."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any
from uuid import UUID

from sqlalchemy import Row
from sqlalchemy.orm import Session

from backend.db.models import AgentConfiguration, Episode, Run
from backend.db.repositories.capacity import licences
from backend.db.repositories.capacity import workers as worker_repository
from backend.db.repositories.capacity.licences import Seats
from backend.db.repositories.runs import runs as run_repository
from backend.db.repositories.scheduling import scheduler
from backend.db.repositories.scheduling import wait_reasons as repository
from backend.db.repositories.scheduling.wait_reasons import QueuePosition
from backend.domain.model.episode import EpisodeState, RunState
from backend.domain.model.reason import Reason, ReasonCode, stored_reason
from backend.domain.scheduling.bounds import hindrance
from backend.domain.scheduling.closed_slots import closed_reason
from backend.domain.scheduling.demand import beginning
from backend.domain.scheduling.limits import Concurrency, concurrency
from backend.domain.scheduling.order import rank
from backend.domain.scheduling.requirements import Requirements, WorkerCapability
from backend.domain.scheduling.snapshot import QueueSnapshot, RunLoad
from backend.domain.scheduling.start_estimate import starts_in
from backend.domain.scheduling.wait_reasons import (
    EpisodeWait,
    RunStanding,
    hindrance_of,
    unable,
    unusable_provider,
    why,
)
from backend.services.capacity.licences import shortage
from backend.services.capacity.slot_health import without_end
from backend.services.runs.episodes import WaitView
from backend.services.scheduling.episode_scheduler import able_of, needs_of
from backend.services.scheduling.scheduler_snapshot import now_of, run_of

_OPEN = {RunState.QUEUED, RunState.RUNNING, RunState.PAUSED}


@dataclass(frozen=True)
class WaitGroup:
    """Waiting episodes of a run that could start by now, with the same requirements and reason.

    `apart`: their tasks are among `tasks_with_functions`.
    """

    run_id: UUID
    needs: UUID | None
    reason: Reason | None
    apart: bool = False


def explain(session: Session, episodes: Sequence[Episode]) -> dict[UUID, WaitView]:
    """Why episodes wait, by id; others are left out."""
    by_run: dict[UUID, list[Episode]] = defaultdict(list)
    for episode in episodes:
        if episode.state == EpisodeState.WAITING:
            by_run[episode.run_id].append(episode)
    view = _QueueView(session)
    # A run may have ended since its episodes were read.
    queued = {run_id: rows for run_id, rows in by_run.items() if view.queues(run_id)}
    return {key: reason for run_id, rows in queued.items() for key, reason in view.explain(run_id, rows).items()}


def explain_alike(session: Session, alike: Collection[WaitGroup]) -> dict[WaitGroup, Reason]:
    """Why they wait; nothing for those that only wait for their turn."""
    view = _QueueView(session)
    return {kind: reason for kind in alike if view.queues(kind.run_id) and (reason := view.explain_alike(kind))}


def tasks_with_functions(session: Session) -> set[UUID]:
    """Tasks with Python evaluation functions, in open runs with other tasks of the same requirements."""
    sets = {row.task_set_id for row in scheduler.queue(session)}
    return {task for set_id in sets for need in needs_of(session, set_id) if need.others for task in need.functions}


def concurrency_of(session: Session, run_id: UUID) -> Concurrency | None:
    """Number of the run's episodes that can run in parallel, and what limits it; None if the run has ended."""
    run, view = run_repository.get(session, run_id), _QueueView(session)
    return None if run is None or RunState(run.state) not in _OPEN or not view.queues(run_id) else view.concurrency(run)


class _QueueView:
    """Snapshot of the queue; each part is read on first use."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._nows: dict[str, QueueSnapshot] = {}
        self._slots: dict[str, tuple[int, int]] = {}
        self._ables: dict[str, list[WorkerCapability]] = {}
        self._shut: dict[str, Reason | None] = {}
        self._under_way: dict[UUID, tuple[Sequence[float], int]] = {}

    def queues(self, run_id: UUID) -> bool:
        """Whether the run has not ended."""
        return any(row.id == run_id for row in self._rows)

    def explain(self, run_id: UUID, episodes: Sequence[Episode]) -> dict[UUID, WaitView]:
        run = self._session.get_one(Run, run_id)
        stand, needs = self._stand(run), {need.id: need for need in needs_of(self._session, run.task_set_id)}
        places = repository.places(self._session, run_id, [episode.id for episode in episodes])
        workers, reasons = self._able(run.provider), {}
        for episode in episodes:
            queue_position, need = (
                places.get(episode.id),
                needs.get(episode.requirements_id) if episode.requirements_id else None,
            )
            need = need and need.for_task(episode.task_id)
            ahead = None if queue_position is None else queue_position.ahead
            waiter = EpisodeWait(
                episode.available_at, stored_reason(episode.reason_code, episode.reason), need, self._lacking(need)
            )
            reason = why(waiter, stand, workers, self._time, ahead)
            starts = self._starts(run, queue_position) if reason.timed and queue_position is not None else None
            reasons[episode.id] = WaitView(
                reason=reason.text,
                reason_code=reason.code,
                episodes_ahead=ahead if reason.turn else None,
                starts_at=starts,
            )
        return reasons

    def explain_alike(self, alike: WaitGroup) -> Reason | None:
        row = next(row for row in self._rows if row.id == alike.run_id)
        need = next((need for need in needs_of(self._session, row.task_set_id) if need.id == alike.needs), None)
        need = replace(need, others=False) if need is not None and alike.apart else need
        slots, free = self._slots_of(row.provider)
        hindrance, lacking = self._hindrance(run_of(row)), self._lacking(need)
        refusal, shut = self._refusal(row.provider), self._closed_reason(row.provider)
        stand = RunStanding(
            row.state, row.provider, row.agent, row.image, hindrance, slots, free, refusal=refusal, closed=shut
        )
        reason = why(
            EpisodeWait(self._time, alike.reason, need, lacking),
            stand,
            self._able(row.provider),
            self._time,
            ahead=None,
        )
        return None if reason.turn and not hindrance else Reason(reason.code, reason.text)

    def concurrency(self, run: Run) -> Concurrency:
        slots, _ = self._slots_of(run.provider)
        waiting = repository.count_waiting(self._session, [run.id]).get(run.id, 0) + run.in_use
        agent, image = self._agent(run), _image(run)
        needs = needs_of(self._session, run.task_set_id)
        paused = Reason(ReasonCode.RUN_PAUSED, "the run is paused")
        hindrances = [paused] if run.state == RunState.PAUSED else []
        able = self._able(run.provider)
        reasons = [reason for need in needs if (reason := unable(run.provider, agent, image, [need], able))]
        refusal = None if able else self._refusal(run.provider)
        none_able = bool(reasons) and len(reasons) == len(needs)
        hindrances += [refusal or min(reasons, key=lambda reason: len(reason.text))] if none_able else []
        hindrances += [shut] if (shut := self._closed_reason(run.provider)) else []
        now, load = self._now(run.provider), self._run(run)
        reason = self._hold_reason(run.id) if waiting <= slots else None
        return concurrency(now, load, slots, waiting, hindrances, self._wanted_before(now, load), reason)

    def _stand(self, run: Run) -> RunStanding:
        slots, free = self._slots_of(run.provider)
        now, load = self._now(run.provider), self._run(run)
        agent, image = self._agent(run), _image(run)
        first = self._first(now, load)
        refusal, shut = self._refusal(run.provider), self._closed_reason(run.provider)
        return RunStanding(
            run.state, run.provider, agent, image, self._hindrance(load), slots, free, first, refusal, shut
        )

    def _hindrance(self, run: RunLoad) -> Reason | None:
        now = self._now(run.provider)
        # If no slot is free, the reserved ones are not the reason.
        open_ = now if now.free is None or now.free > 0 else replace(now, free=None)
        return hindrance(open_, run)

    def _hold_reason(self, run_id: UUID) -> Reason | None:
        row = repository.hold_reason(self._session, run_id)
        if row is None:
            return None
        reason = stored_reason(row.reason_code, row.reason)
        if reason is None:
            return Reason(ReasonCode.ON_HOLD, "the rest is on hold")
        hold = "" if reason.code is ReasonCode.PERSON else "on hold: "
        return Reason(reason.code, f"the rest is {hold}{reason.text}")

    def _first(self, now: QueueSnapshot, load: RunLoad) -> str:
        """Runs that precede this one regardless of shares, with the episodes that they may start."""
        number = sum(self._beginning_before(now, load).values())
        return f"{number} episode{'' if number == 1 else 's'} of higher-priority runs first" if number else ""

    def _wanted_before(self, now: QueueSnapshot, load: RunLoad) -> int:
        """Slots that these have or could use now."""
        return sum(run.in_use for run in _before(now, load)) + sum(self._beginning_before(now, load).values())

    def _beginning_before(self, now: QueueSnapshot, load: RunLoad) -> dict[UUID, int]:
        """Waiting episodes of each more urgent run that lack only slots."""
        before = [run.id for run in _before(now, load)]
        return beginning(now, repository.count_waiting(self._session, before)) if before else {}

    def _starts(self, run: Run, queue_position: QueuePosition) -> datetime | None:
        if run.id not in self._under_way:
            self._under_way[run.id] = repository.remaining(self._session, run.id), self._at_once(run)
        seconds = starts_in(queue_position.ahead, queue_position.seconds, *self._under_way[run.id])
        return None if seconds is None else self._time + timedelta(seconds=seconds)

    def _at_once(self, run: Run) -> int:
        """How many it can run if no preceding run starts more; 0 while it waits for its model."""
        now, run_load = self._now(run.provider), self._run(run)
        urgent = sum(load.in_use for load in _before(now, run_load))
        limit = concurrency(now, run_load, self._slots_of(run.provider)[0], run_load.in_use + 1, urgent=urgent)
        return 0 if run_load.model_waits else limit.limit

    def _lacking(self, need: Requirements | None) -> str:
        return shortage(need.licences, self._seats) if need is not None and need.licences else ""

    def _agent(self, run: Run) -> str:
        return self._session.get_one(AgentConfiguration, run.agent_configuration_id).name

    def _run(self, run: Run) -> RunLoad:
        """The run in the queue, whether or not it wants a slot."""
        return next(run_of(row) for row in self._rows if row.id == run.id)

    def _now(self, provider: str) -> QueueSnapshot:
        if provider not in self._nows:
            wanting = [row for row in self._rows if row.provider == provider and row.ready]
            now = now_of(self._session, provider, self._rows, wanting)
            self._nows[provider] = now
        return self._nows[provider]

    def _slots_of(self, provider: str) -> tuple[int, int]:
        if provider not in self._slots:
            self._slots[provider] = scheduler.slots(self._session, provider)
        return self._slots[provider]

    def _closed_reason(self, provider: str) -> Reason | None:
        """Why there is no slot; None if there are some."""
        if provider not in self._shut:
            self._shut[provider] = None if self._slots_of(provider)[0] else self._why_closed(provider)
        return self._shut[provider]

    def _why_closed(self, provider: str) -> Reason:
        slots, nodes = repository.closed(self._session, provider)
        return closed_reason(provider, [replace(slot, reason=without_end(slot.reason)) for slot in slots], nodes)

    def _able(self, provider: str) -> list[WorkerCapability]:
        if provider not in self._ables:
            having = (row for row in self._workers if _offer(row, provider).get("ok") and not _hinders(row))
            self._ables[provider] = [able_of(row, provider) for row in having]
        return self._ables[provider]

    def _refusal(self, provider: str) -> Reason | None:
        offers = [(offer, row) for row in self._workers if (offer := _offer(row, provider))]
        why_not = [str(offer.get("reason", "")) for offer, _ in offers if not offer.get("ok")]
        hindrances = [
            hindrance_of(hindrance) for offer, row in offers if offer.get("ok") and (hindrance := _hinders(row))
        ]
        return next(iter(hindrances), None) or unusable_provider(provider, next(iter(why_not), ""))

    @cached_property
    def _rows(self) -> Sequence[Row[Any]]:
        return scheduler.queue(self._session)

    @cached_property
    def _workers(self) -> Sequence[Any]:
        return repository.online(self._session)

    @cached_property
    def _seats(self) -> Sequence[Seats]:
        return licences.seats(self._session)

    @cached_property
    def _time(self) -> datetime:
        return worker_repository.now(self._session)


def _offer(worker: Any, provider: str) -> Mapping[str, Any]:
    """A worker's offer for that provider; empty if there is none."""
    offer: Mapping[str, Any] = worker.capabilities.get("providers", {}).get(provider, {})
    return offer


def _hinders(worker: Any) -> str:
    """Why a worker starts nothing now; empty if it does."""
    return str(worker.capabilities.get("hindrance", ""))


def _image(run: Run) -> str | None:
    """From its row: the rest of a newer release's configuration may not be readable here."""
    image = run.config.get("desktop_image")
    return None if image is None else str(image)


def _before(now: QueueSnapshot, load: RunLoad) -> list[RunLoad]:
    """Runs that precede one regardless of shares."""
    return [run for run in now.runs if run.id != load.id and rank(now, run) > rank(now, load)]
