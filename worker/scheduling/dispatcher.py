"""Takes work for the free slots of this machine, whether or not a message says that there is some."""

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
"""Until a new worker looks again at what can run here, and after each change: in a cluster, images are found by a pod
that is made for it, and an API that was away comes back. Where nothing changes, the next look is twice as far away, up
to a minute."""
CLUSTER_REST = 4.0
"""In a cluster it is the slot that rests, until its pod starts; it is known as such by then, and others are taken."""
AT_ONCE = 32
"""Episodes that one transaction takes at most: others wait for it."""
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class WorkerContext:
    """What a worker works with.

    Attributes:
        describe: what it says of itself; asked at each registration and every minute or sooner, may take a while the
            first time.
        tools: by provider name; only providers that work here.
    """

    settings: Settings
    database: Database
    store: ArtifactStore
    describe: Callable[[], WorkerInfo]
    tools: Mapping[str, AttemptDeps]


def _fitting(session: Session) -> Session:
    """The same, if this release can work on its schema: in an upgrade, the migration may come a little later."""
    if problem := schema_problem(session):
        raise Unavailable(problem, code="database_schema_differs", hint="It is asked again.")
    return session


class Dispatcher:
    """Registers the worker, looks for work every poll and when woken, and watches over its slots.

    Nothing here ends because the database or the broker is away: everything is tried again.
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
        self._away = False
        self._failures: dict[str, int] = {}
        self._rest_until: dict[str, float] = {}
        self._clusters_away: set[str] = set()
        self._hindrance = ""
        self._info: WorkerInfo | None = None
        self._news_rest, self._look_again_at, self._outdated = NEWS_REST, 0.0, False
        self._news: Thread | None = None
        self._thread = Thread(target=self._run, name="dispatcher", daemon=True)

    def start(self) -> None:
        """Begins, in threads of its own."""
        self._thread.start()
        self._chores.start()
        self._troubles.start()

    @property
    def registered(self) -> bool:
        """The database knows this worker."""
        return self._heart.worker_id is not None

    @property
    def identity(self) -> tuple[UUID, str] | None:
        """Our id and name in the database; None while it does not know us."""
        worker_id, info = self._heart.worker_id, self._info
        return None if worker_id is None or info is None else (worker_id, info.name)

    def taken_over(self, lease_id: UUID, why: str) -> None:
        """Somebody else has the slot of that lease by now: its attempt stops, and writes nothing more."""
        for hold in self._holds.all():
            if hold.ticket.lease_id == lease_id:
                hold.stop(LeaseLost(f"the lease was taken over: {why}"))

    def wake(self) -> None:
        """There may be work. Safe from any thread, cheap."""
        self._woken.set()

    def begin_drain(self) -> None:
        """Takes no more work from now on. Returns at once; safe in a signal handler."""
        self._draining.set()
        self._woken.set()

    def stop(self, seconds: float = 6.0) -> None:
        """Ends in good order: attempts may finish within the grace (`settings.shutdown_grace_seconds`).

        What is being evaluated then may finish, too; all others are handed back as lost.

        Args:
            seconds: so long after the grace everything has ended; what has not is left to the reapers.
        """
        self.begin_drain()
        self._thread.join(seconds)
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

    def _run(self) -> None:
        while not self._draining.is_set():
            try:
                self._show_life()
                self._round()
            except Unavailable as error:
                if not self._away:
                    logger.warning("no work can be taken: %s", error.message)
                self._away = True
            except Exception:
                logger.exception("looking for work failed")
            else:
                self._away = False
            self._woken.wait(self._works.settings.poll_seconds)
            self._woken.clear()

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
        """In a thread of its own: trying the machine out may take long, and must not keep work waiting."""
        self._look_again_at, self._outdated = math.inf, False
        news = Thread(target=self._look_again, args=(worker_id,), name="news", daemon=True)
        try:
            news.start()
        except RuntimeError:  # The machine allows no more threads now; it may later.
            self._look_again_at = time.monotonic() + NEWS_REST
            raise
        self._news = news

    def _look_again(self, worker_id: UUID) -> None:
        """What can be done here changes: somebody makes an image, installs a program, mends what did not work."""
        try:
            self._tell_news(worker_id, self._described())
        except Unavailable:
            pass  # The dispatcher says so already.
        except Exception:
            logger.exception("looking at what can run here failed")
        finally:
            rest = 0.0 if self._outdated else min(self._news_rest, LONGEST_REST)
            self._look_again_at = time.monotonic() + rest

    def _described(self) -> WorkerInfo:
        """What can be done here, and what keeps it from being begun."""
        info, hindrance = self._works.describe(), self._hindrance
        return replace(info, capabilities={**info.capabilities, "hindrance": hindrance}) if hindrance else info

    def _tell_news(self, worker_id: UUID, info: WorkerInfo) -> None:
        self._news_rest = min(LONGEST_REST, self._news_rest * 2)
        if info != self._info and not self._draining.is_set():
            self._news_rest = NEWS_REST
            self._database.once(lambda session: claims.update_worker(session, worker_id, info))
            self._info = info
            logger.info("what can run here has changed")
            self.wake()

    def _register(self) -> None:
        info = self._info = self._described()
        self._news_rest = NEWS_REST
        self._look_again_at = time.monotonic() + min(NEWS_REST, LONGEST_REST)
        worker = self._database.once(lambda session: claims.register_worker(_fitting(session), info))
        self._heart.start(worker.id)
        logger.info("registered as %s (%s)", info.name, worker.id)

    def _free(self, provider: str) -> int:
        """For how many more desktops of that provider the machine has room."""
        if self._info is None or self._draining.is_set():
            return 0
        with self._lock:
            return room_for([slot.hold.ticket.provider for slot in self._slots], provider, self._info.slots)

    def _can_begin(self, provider: str) -> bool:
        """Not while it rests, or soon will, or its cluster or the store is away: attempts would be lost in a row."""
        if provider in self._clusters_away or self._store.answers.why_not:
            return False
        if not all(hold.could_open for hold in self._holds.all() if hold.ticket.provider == provider):
            return False
        return time.monotonic() >= self._rest_until.get(provider, 0.0)

    def _notice_away(self) -> None:
        """A cluster that is away, a store without room, or either back, is told of soon: others should know why."""
        clusters = {name: tools.provider for name, tools in self._works.tools.items()}
        away = {name for name, each in clusters.items() if isinstance(each, ClusterProvider) and each.away()}
        why_not = self._store.answers.why_not
        if away != self._clusters_away or bool(why_not) != bool(self._hindrance):
            self._clusters_away, self._hindrance = away, why_not and f"the artifact store takes nothing: {why_not}"
            self._news_rest, self._outdated = NEWS_REST, True
            if not math.isinf(self._look_again_at):  # Else somebody looks just now, and looks again.
                self._look_again_at = time.monotonic()

    def _claim(self, provider: str, number: int) -> bool:
        """Takes up to so many leases with an episode each, and sets a slot to work on each. False if there was none."""
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
                logger.exception("a slot could not be set to work")
                self._hand_back(batch[at:], f"its worker could not begin it: {error}")
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
            # It has no thread, as where a machine allows no more: nobody else would end what is renewed for it.
            self._holds.remove(hold)
            raise

    def _hand_back(self, batch: Sequence[Claim], why: str) -> None:
        """Their attempts are lost to the cluster, before any began; where it cannot be told, by their silence."""
        for claim in batch:
            try:
                self._database.once(partial(claims.release_lease, lease_id=claim.lease_id, reason=why))
            except DeskarenaError as error:
                logger.warning("a lease could not be given back: %s", error.message)

    def _slot_ended(self, slot: SlotWorker) -> None:
        provider = slot.hold.ticket.provider
        self._rest(provider, could_open=slot.could_open)
        self._holds.remove(slot.hold)
        with self._lock:
            self._slots.remove(slot)
        self._woken.set()

    def _rest(self, provider: str, *, could_open: bool) -> None:
        """For a while where no desktop could be opened."""
        with self._lock:
            self._failures[provider] = 0 if could_open else self._failures.get(provider, 0) + 1
            if self._failures[provider]:
                # A machine that cannot make desktops must not use up every episode's attempts within seconds.
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

    def _tell(self, what: Callable[[Session, UUID], None]) -> None:
        worker_id = self._heart.worker_id
        if worker_id is None:
            return
        try:
            self._database.once(lambda session: what(session, worker_id))
        except DeskarenaError as error:
            logger.warning("the database could not be told that this worker ends: %s", error.message)
