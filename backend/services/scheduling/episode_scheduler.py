"""Selects the next episodes for a worker, in the order of `domain.scheduling`, under the scheduler's lock."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from sqlalchemy import Row
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from backend.db.models import Worker
from backend.db.repositories.scheduling import scheduler as repository
from backend.db.repositories.scheduling.scheduler import StartedEpisode
from backend.domain.model.episode import RunState
from backend.domain.scheduling.bounds import has_room
from backend.domain.scheduling.order import rank, turns, with_slot
from backend.domain.scheduling.requirements import Requirements, WorkerCapability, seated
from backend.domain.scheduling.snapshot import QueueSnapshot
from backend.domain.scheduling.wait_reasons import unread
from backend.services.capacity import licences
from backend.services.capacity.worker_capabilities import images_of, programs_of, runs_functions
from backend.services.lru_cache import LruCache
from backend.services.runs import config_cache
from backend.services.runs.config_cache import UnreadableConfig
from backend.services.scheduling.claim_types import RunFacts, StartingEpisode
from backend.services.scheduling.scheduler_snapshot import now_of

PATIENCE_MS = 50
"""Maximum wait for a locked run if no other run may have the slot."""
MOST_UNREAD = 32
"""Episodes with unreadable tasks after which a transaction stops searching their run."""
_needs: LruCache[UUID, tuple[Requirements, ...]] = LruCache(500)


def able_of(worker: Worker, provider: str) -> WorkerCapability:
    """A worker's capabilities for a provider's desktops."""
    offers = worker.capabilities.get("agents", {})
    agents = frozenset(name for name, offer in offers.items() if not offer.get("reason"))
    images = frozenset(image.name for image in images_of(worker.capabilities, provider) if not image.reason)
    programs = programs_of(worker.capabilities, provider)
    named = f"{worker.name} (release {worker.version})"
    return WorkerCapability(provider, programs, agents, images, named, runs_functions(worker.capabilities))


def needs_of(session: Session, task_set_id: UUID) -> tuple[Requirements, ...]:
    """Requirements of a task set's tasks. A set never changes, so they are read once."""
    return _needs.get_or_make(task_set_id, lambda: repository.needs_of(session, task_set_id))


def open_to(session: Session, able: WorkerCapability) -> list[Row[Any]]:
    """Runs that could start an episode now if such a worker had a free slot. Locks nothing."""
    rows = repository.queue(session)
    fitting = _fitting(rows, able)
    if not fitting:
        return []
    now = now_of(session, able.provider, rows, fitting)
    with_room = {run.id for run in now.runs if has_room(now, run)}
    return [row for row in fitting if row.id in with_room]


def start_episodes(session: Session, able: WorkerCapability, number: int, *, leases: int = 0) -> list[StartingEpisode]:
    """Moves up to `number` episodes to `running`.

    Order: docs/internals/scheduling.md. A run that is locked by another writer is skipped if another is as urgent; the
    caller's transaction keeps the runs that it takes from.

    Args:
        session: the transaction; it has entered (`repository.enter`), so nobody else gets a slot until it ends.
        able: the worker's capabilities.
        number: of free slots.
        leases: number of these that have a lease already.

    Returns:
        Episodes in the order of selection.
    """
    rows = repository.queue(session)
    fitting = _fitting(rows, able)
    if not fitting:
        return []
    now = now_of(session, able.provider, rows, fitting)
    now = now if now.free is None else replace(now, free=now.free + leases)
    taking = _EpisodeSelection(session, able, now, {row.id: row for row in fitting})
    taking.do(number)
    return taking.picks


def _fitting(rows: Sequence[Row[Any]], able: WorkerCapability) -> list[Row[Any]]:
    ready = [row for row in rows if row.ready and row.provider == able.provider and able.fits(row.agent, row.image)]
    return [row for row in ready if row.id not in config_cache.unread_runs()]


def _satisfiable_needs(session: Session, able: WorkerCapability, row: Row[Any]) -> list[Requirements]:
    return [need for need in needs_of(session, row.task_set_id) if able.meets(need, row.image)]


@dataclass
class _EpisodeSelection:
    """Selection of the next episodes, within one transaction."""

    session: Session
    able: WorkerCapability
    now: QueueSnapshot
    rows: Mapping[UUID, Row[Any]]
    picks: list[StartingEpisode] = field(default_factory=list)
    locked: dict[UUID, Row[Any]] = field(default_factory=dict)
    facts: dict[UUID, RunFacts] = field(default_factory=dict)
    without: set[UUID] = field(default_factory=set)
    passed: set[UUID] = field(default_factory=set)
    unread: set[tuple[UUID, UUID]] = field(default_factory=set)
    _seats: dict[str, int] | None = None

    def do(self, number: int) -> None:
        """Selects episodes until the number is reached, or nothing may be taken any more."""
        passed: set[UUID] = set()
        while len(self.picks) < number:
            counts = Counter(turns(self.now, number - len(self.picks), self.without | passed))
            if not counts and not passed:
                break
            if not counts:
                passed.clear()
                continue
            passed |= self._lock(counts)
            locked_counts = {run: count for run, count in counts.items() if run in self.locked}
            before = len(self.picks)
            self._start_rows(locked_counts)
            if len(self.picks) > before:
                passed.clear()  # The others had their turn; this run may take what is left.

    def _read(self, row: Row[Any]) -> None:
        """Facts of a run, or that this release cannot read it: then it is left to others."""
        try:
            config = config_cache.config_of(row.id, row.config)
        except UnreadableConfig as error:
            self.without.add(row.id)
            repository.note_unread(self.session, row.id, unread(self.able.worker, error.message))
            config_cache.note_unread(self.session, row.id)
        else:
            queued, human = row.state == RunState.QUEUED, self.rows[row.id].human
            self.facts[row.id] = RunFacts(
                row.project_id,
                row.task_set_id,
                config,
                queued=queued,
                human=human,
                trace_parent=row.trace_parent or "",
                trace_per_episode=row.trace_per_episode,
            )

    def _lock(self, counts: Mapping[UUID, int]) -> set[UUID]:
        """Locks the runs. Locked ones are skipped once if another is as urgent, else waited for.

        Returns:
            Runs that are skipped until others had their turns.
        """
        new = [run for run in counts if run not in self.locked]
        self._note(repository.lock_runs(self.session, new) if new else [])
        away = [run for run in new if run not in self.locked]
        passed = {run for run in away if run not in self.passed and self._equalled(run, counts)}
        self.passed |= passed
        self.without |= {run for run in away if run not in passed and not self._is_waited_for(run)}
        return passed

    def _equalled(self, run: UUID, counts: Mapping[UUID, int]) -> bool:
        """Whether another run that may take one more slot is equally urgent."""
        able = [
            other_run
            for other_run in self.now.runs
            if other_run.id not in self.without and (other_run.id == run or has_room(self.now, other_run))
        ]
        ranks = {other_run.id: rank(self.now, other_run) for other_run in able}
        others = [
            ranks[other_run]
            for other_run in ranks
            if other_run != run and (other_run in self.locked or other_run not in counts)
        ]
        return any(other >= ranks[run] for other in others)

    def _is_waited_for(self, run: UUID) -> bool:
        repository.patience(self.session, PATIENCE_MS)
        try:
            with self.session.begin_nested():
                self._note(repository.lock_runs(self.session, [run], skip_locked=False))
        except OperationalError:
            return False  # The lock is held for long: another poll will find the run.
        finally:
            repository.patience(self.session, None)
        return run in self.locked

    def _note(self, rows: Sequence[Row[Any]]) -> None:
        """Locked rows take precedence over what was read before."""
        self.locked |= {row.id: row for row in rows}
        fresh = {row.id: row for row in rows}
        self.now = replace(
            self.now,
            runs=tuple(
                replace(run, concurrency=fresh[run.id].concurrency, in_use=fresh[run.id].in_use)
                if run.id in fresh
                else run
                for run in self.now.runs
            ),
        )
        self.without |= {row.id for row in rows if row.state not in {RunState.QUEUED, RunState.RUNNING}}
        for row in rows:
            self._read(row)

    def _start_rows(self, counts: Mapping[UUID, int]) -> None:
        by_id = {run.id: run for run in self.now.runs}
        room = {run: _room(by_id[run].concurrency, by_id[run].in_use, count) for run, count in counts.items()}
        numbers = {run: count for run, count in room.items() if count > 0 and run not in self.without}
        needs = {run: _satisfiable_needs(self.session, self.able, self.rows[run]) for run in numbers}
        seatless = {run: count for run, count in numbers.items() if not any(need.licences for need in needs[run])}
        episodes = self._ask(seatless, needs) if seatless else []
        for run in numbers.keys() - seatless.keys():
            episodes += self._start_licensed(run, numbers[run], needs[run])
        started = Counter(episode.run_id for episode in episodes)
        self.without |= {run for run in counts if started[run] < counts[run]}
        for starting in self._readable(episodes):
            self.now = with_slot(self.now, next(run for run in self.now.runs if run.id == starting.episode.run_id))
            self.picks.append(starting)

    def _readable(self, episodes: Sequence[StartedEpisode]) -> list[StartingEpisode]:
        """Episodes with their tasks; those with unreadable tasks keep waiting, for other workers."""
        by_run: dict[UUID, list[StartedEpisode]] = defaultdict(list)
        for episode in episodes:
            by_run[episode.run_id].append(episode)
        read = {
            run: config_cache.tasks_of(self.session, {episode.task_id for episode in own}, self.facts[run].config)
            for run, own in by_run.items()
        }
        starting: list[StartingEpisode] = []
        for episode in episodes:
            task = read[episode.run_id][episode.task_id]
            if isinstance(task, UnreadableConfig):
                self._put_back(episode, task)
            else:
                starting.append(StartingEpisode(episode, task, self.facts[episode.run_id]))
        return starting

    def _put_back(self, episode: StartedEpisode, error: UnreadableConfig) -> None:
        repository.put_back(self.session, episode.id, unread(self.able.worker, error.message))
        config_cache.note_unread(self.session, episode.run_id, {episode.task_id})
        self.unread.add((episode.run_id, episode.task_id))
        if len(self.unread) >= MOST_UNREAD:
            self.without.add(episode.run_id)

    def _ask(self, numbers: Mapping[UUID, int], needs: Mapping[UUID, Sequence[Requirements]]) -> list[StartedEpisode]:
        pairs = [(run, need.id) for run in numbers for need in needs[run]]
        fenced = [(run, task) for run in numbers for need in needs[run] for task in self.able.leaves(need)]
        excluded = [*self.unread, *config_cache.unread_tasks(numbers), *fenced]
        return repository.start_episodes(self.session, numbers, pairs, excluded)

    def _start_licensed(self, run: UUID, number: int, needs: Sequence[Requirements]) -> list[StartedEpisode]:
        """Episodes of a run with licensed tasks, one by one: each may take the last seat."""
        if self._seats is None:
            self._seats = licences.free(self.session, locked=True)
        episodes: list[StartedEpisode] = []
        for _ in range(number):
            open_ = [need for need in needs if seated(need, self._seats)]
            started = self._ask({run: 1}, {run: open_})
            if not started:
                break
            episodes += started
            used = next(need.licences or {} for need in needs if need.id == started[0].requirements_id)
            self._seats = {name: number - used.get(name, 0) for name, number in self._seats.items()}
        return episodes


def _room(concurrency: int | None, in_use: int, count: int) -> int:
    return count if concurrency is None else min(count, concurrency - in_use)
