"""Takes work for free slots of this machine, with or without a wake-up message."""

import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import Event, Lock, Thread
from uuid import UUID

from sqlalchemy.orm import Session

from backend.config import Settings
from backend.db.compatibility import schema_problem
from backend.domain.errors import ClusterLost, DeskarenaError, LeaseLost, Unavailable
from backend.domain.machines.slots import room_for
from backend.domain.ports.cluster import ClusterProvider
from backend.domain.ports.storage import ArtifactStore
from backend.services.capacity.workers import WorkerInfo
from backend.services.lifecycle import lease_reaper
from backend.services.periodic_thread import PeriodicThread
from backend.services.scheduling import claims
from backend.services.scheduling.claims import Claim
from worker.attempt.attempt_dependencies import AttemptDeps
from worker.base.database import Database
from worker.base.guarded_store import GuardedStore
from worker.base.lease import HeldLease, HeldLeases, LeaseGrant
from worker.scheduling.heartbeat import Heartbeat
from worker.scheduling.maintenance_loop import MaintenanceLoop
from worker.scheduling.slot_health_reporter import SlotHealthReporter
from worker.scheduling.slots import SlotWorker

SHUTDOWN = "the worker was stopped"
LONGEST_REST = 60.0
NEWS_REST = 5.0
"""Interval at which capabilities are determined again, at first and after a change: in a cluster, images are found
by a pod, and an unavailable API comes back. Without changes the interval doubles, up to a minute.
"""
CLUSTER_REST = 4.0
"""In a cluster it is the slot that pauses, until its pod starts, and others are used."""
AT_ONCE = 32
"""Maximum episodes that one transaction takes: other workers wait for it."""
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class WorkerContext:
    """Dependencies of a worker.

    Attributes:
        describe: returns its description; called at each registration and at least every minute, may take a while at
            first.
        tools: by provider name; only providers that work here.
    """

    settings: Settings
    database: Database
    store: ArtifactStore
    describe: Callable[[], WorkerInfo]
    tools: Mapping[str, AttemptDeps]


def _fitting(session: Session) -> Session:
    """Checks that this release supports the schema: during an upgrade the migration may come a little later."""
    if problem := schema_problem(session):
        raise Unavailable(problem, code="database_schema_differs", hint="The worker retries.")
    return session


class Dispatcher:
    """Registers the worker, polls for work and when woken, and supervises its slots.

    An unavailable database or broker never ends it: everything is retried.
    """

    def __init__(self, works: WorkerContext) -> None:
        self._works = works
        self._database = works.database
        self._store = GuardedStore(works.store)
        self._holds = HeldLeases()
        self._heart = Heartbeat(works.database, self._holds, works.settings.heartbeat_seconds)
        self._chores = MaintenanceLoop(
            works.database, every=works.settings.poll_seconds, lease_seconds=works.settings.lease_seconds
        )
        self._troubles = SlotHealthReporter(works.database, [tools.provider for tools in works.tools.values()])
        self._slots: list[SlotWorker] = []
        self._lock = Lock()
        self._woken = Event()
        self._draining = Event()
        self._failures: dict[str, int] = {}
        self._rest_until: dict[str, float] = {}
        self._clusters_away: set[str] = set()
        self._hindrance = ""
        self._info: WorkerInfo | None = None
        self._news_rest, self._look_again_at, self._outdated = NEWS_REST, 0.0, False
        self._news: Thread | None = None
        self._thread = PeriodicThread(
            "dispatcher",
            self._turn,
            every=works.settings.poll_seconds,
            woken=self._woken,
            away="no work can be taken",
            broken="polling for work raised",
        )

    def start(self) -> None:
        """Starts its background threads."""
        self._thread.start()
        self._chores.start()
        self._troubles.start()

    @property
    def registered(self) -> bool:
        """Whether the database knows this worker."""
        return self._heart.worker_id is not None

    @property
    def identity(self) -> tuple[UUID, str] | None:
        """Our id and name in the database; None before registration."""
        worker_id, info = self._heart.worker_id, self._info
        return None if worker_id is None or info is None else (worker_id, info.name)

    def on_takeover(self, lease_id: UUID, reason: str) -> None:
        """Somebody else has the slot of that lease now: its attempt stops without writing."""
        for hold in self._holds.all():
            if hold.ticket.lease_id == lease_id:
                hold.stop(LeaseLost(f"the lease was taken over: {reason}"))

    def wake(self) -> None:
        """There may be work. Thread-safe, cheap."""
        self._woken.set()

    def begin_drain(self) -> None:
        """Stops taking work. Returns at once; safe in a signal handler."""
        self._draining.set()
        self._woken.set()

    def stop(self, seconds: float = 6.0) -> None:
        """Stops gracefully: attempts may finish within the grace period (`settings.shutdown_grace_seconds`).

        Evaluations that run then may finish, too; all other attempts are returned as lost.

        Args:
            seconds: time after the grace period until everything has ended; what remains is left to the reapers.
        """
        self.begin_drain()
        self._thread.stop(seconds)
        self._tell(claims.drain)
        for hold in self._holds.all():
            hold.last = True
        self._join_slots(time.monotonic() + self._works.settings.shutdown_grace_seconds)
        deadline = time.monotonic() + seconds
        self._stop_holds(lambda hold: not hold.finishing)
        self._join_slots(deadline - seconds * 0.4)
        self._stop_holds(lambda _: True)
        self._join_slots(deadline - seconds * 0.1)
        self._heart.stop()
        self._chores.stop()
        self._troubles.stop()
        if self._news is not None:
            self._news.join(max(0.0, deadline - time.monotonic()))
        self._tell(lease_reaper.sign_off)
        for tools in self._works.tools.values():
            tools.provider.close()

    def _turn(self) -> None:
        if not self._draining.is_set():
            self._show_life()
            self._round()

    def _show_life(self) -> None:
        if self._works.settings.liveness_file is not None:
            self._works.settings.liveness_file.touch()

    def _round(self) -> None:
        self._notice_away()
        worker_id = self._heart.worker_id
        if worker_id is None:
            self._register()
        elif time.monotonic() >= self._look_again_at:
            self._begin_to_look_again(worker_id)
        self._store.answers.look()
        for provider in self._works.tools:
            while self._can_begin(provider) and self._claim(provider, min(AT_ONCE, self._free(provider))):
                pass

    def _begin_to_look_again(self, worker_id: UUID) -> None:
        """In a background thread: testing the machine may take long, and must not delay work."""
        self._look_again_at, self._outdated = math.inf, False
        news = Thread(target=self._look_again, args=(worker_id,), name="news", daemon=True)
        try:
            news.start()
        except RuntimeError:  # The machine allows no more threads now; it may later.
            self._look_again_at = time.monotonic() + NEWS_REST
            raise
        self._news = news

    def _look_again(self, worker_id: UUID) -> None:
        """Updates capabilities, which change when images are built or programs installed."""
        try:
            self._tell_news(worker_id, self._describe())
        except Unavailable:
            pass  # The dispatcher already reports it.
        except Exception:
            logger.exception("determining capabilities raised")
        finally:
            position = 0.0 if self._outdated else min(self._news_rest, LONGEST_REST)
            self._look_again_at = time.monotonic() + position

    def _describe(self) -> WorkerInfo:
        """Current capabilities, and what prevents work from starting."""
        info, hindrance = self._works.describe(), self._hindrance
        return replace(info, capabilities={**info.capabilities, "hindrance": hindrance}) if hindrance else info

    def _tell_news(self, worker_id: UUID, info: WorkerInfo) -> None:
        self._news_rest = min(LONGEST_REST, self._news_rest * 2)
        if info != self._info and not self._draining.is_set():
            self._news_rest = NEWS_REST
            self._database.once(lambda session: claims.update_worker(session, worker_id, info))
            self._info = info
            logger.info("capabilities have changed")
            self.wake()

    def _register(self) -> None:
        info = self._info = self._describe()
        self._news_rest = NEWS_REST
        self._look_again_at = time.monotonic() + min(NEWS_REST, LONGEST_REST)
        worker = self._database.once(lambda session: claims.register_worker(_fitting(session), info))
        self._heart.start(worker.id)
        logger.info("registered as %s (%s)", info.name, worker.id)

    def _free(self, provider: str) -> int:
        """Number of further desktops of that provider for which the machine has room."""
        if self._info is None or self._draining.is_set():
            return 0
        with self._lock:
            return room_for([slot.hold.ticket.provider for slot in self._slots], provider, self._info.slots)

    def _can_begin(self, provider: str) -> bool:
        """False while it pauses or soon will, or its cluster or the store is unavailable: attempts would be lost."""
        if provider in self._clusters_away or self._store.answers.why_not:
            return False
        if not all(hold.could_open for hold in self._holds.all() if hold.ticket.provider == provider):
            return False
        return time.monotonic() >= self._rest_until.get(provider, 0.0)

    def _notice_away(self) -> None:
        """Reports an unavailable cluster, a full store, or a recovery soon, so that others know the reason."""
        clusters = {name: tools.provider for name, tools in self._works.tools.items()}
        away = {
            name for name, provider in clusters.items() if isinstance(provider, ClusterProvider) and provider.away()
        }
        why_not = self._store.answers.why_not
        if away != self._clusters_away or bool(why_not) != bool(self._hindrance):
            self._clusters_away, self._hindrance = (
                away,
                why_not and (f"the artifact store does not accept data: {why_not}"),
            )
            self._news_rest, self._outdated = NEWS_REST, True
            if not math.isinf(self._look_again_at):  # Otherwise an update is running, and repeats.
                self._look_again_at = time.monotonic()

    def _claim(self, provider: str, number: int) -> bool:
        """Takes a number of leases with an episode each, and starts a slot's work on each. False if there was none."""
        worker_id = self._heart.worker_id
        if worker_id is None or number < 1:
            return False
        asked_at = time.monotonic()
        batch = self._database.once(lambda session: claims.claim_many(session, worker_id, provider, number))
        for at, claim in enumerate(batch):
            ticket = LeaseGrant(claim.lease_id, provider)
            try:
                self._set_to_work(HeldLease(ticket, self._works.settings.lease_seconds, since=asked_at), claim)
            except Exception as error:
                logger.exception("slot could not start work")
                self._hand_back(batch[at:], f"its worker could not start it: {error}")
                self._rest(provider, could_open=False)
                return False
        return bool(batch)

    def _set_to_work(self, hold: HeldLease, claim: Claim) -> None:
        self._holds.add(hold)
        works = self._works
        try:
            with self._lock:
                slot = SlotWorker(
                    hold,
                    claim,
                    tools=works.tools[claim.provider],
                    database=self._database,
                    store=self._store,
                    ended=self._slot_ended,
                )
                self._slots.append(slot)
        except BaseException:
            # It has no thread, for example at the machine's limit of threads: nobody else would end its lease.
            self._holds.remove(hold)
            raise

    def _hand_back(self, batch: Sequence[Claim], why_released: str) -> None:
        """Returns attempts as lost to the cluster, before any started; if that fails, their leases expire."""
        for claim in batch:
            try:
                self._database.once(partial(claims.release_lease, lease_id=claim.lease_id, reason=why_released))
            except DeskarenaError as error:
                logger.warning("lease not returned: %s", error.message)

    def _slot_ended(self, slot: SlotWorker) -> None:
        provider = slot.hold.ticket.provider
        self._rest(provider, could_open=slot.could_open)
        self._holds.remove(slot.hold)
        with self._lock:
            self._slots.remove(slot)
        self._woken.set()

    def _rest(self, provider: str, *, could_open: bool) -> None:
        """Pauses for a while after a desktop could not be opened."""
        with self._lock:
            self._failures[provider] = 0 if could_open else self._failures.get(provider, 0) + 1
            if self._failures[provider]:
                # Back off: a broken host would otherwise burn all retries within seconds.
                longest = (
                    CLUSTER_REST if isinstance(self._works.tools[provider].provider, ClusterProvider) else LONGEST_REST
                )
                self._rest_until[provider] = time.monotonic() + min(longest, 2.0 ** self._failures[provider])

    def _stop_holds(self, which: Callable[[HeldLease], bool]) -> None:
        for hold in self._holds.all():
            if which(hold):
                hold.stop(ClusterLost(SHUTDOWN, code="worker_stopping"))

    def _join_slots(self, deadline: float) -> None:
        with self._lock:
            slots = list(self._slots)
        for slot in slots:
            slot.join(max(0.0, deadline - time.monotonic()))

    def _tell(self, report: Callable[[Session, UUID], None]) -> None:
        worker_id = self._heart.worker_id
        if worker_id is None:
            return
        try:
            self._database.once(lambda session: report(session, worker_id))
        except DeskarenaError as error:
            logger.warning("end of this worker not recorded: %s", error.message)
