"""A worker without desktops: it leases, claims, beats and writes as `worker.scheduling` and its runner do.

Every write is the real service's, in its own transaction; only the time between writes is simulated: time passes
instead of a desktop being reset, an agent acting and an evaluator looking.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any
from uuid import UUID

from backend.domain.errors import AttemptFailure, DeskarenaError, FailureClass, LeaseLost, Unavailable
from backend.domain.model.episode import EndedBy
from backend.services.attempts import attempts
from backend.services.scheduling import claims
from backend.services.scheduling.claims import Claim
from tests.factories.records import World, evaluation
from tools.simulator.durations import Length
from tools.simulator.journal import Journal, SlotUse
from tools.simulator.timelines import Timeline

TRIES = 5
AT_ONCE = 32
"""As `worker/scheduling/dispatcher.py` has it."""
_PIDS = itertools.count(1)


@dataclass(frozen=True)
class AttemptOutcome:
    """Result of an attempt.

    Attributes:
        length: seconds by phase.
        score: of its verdict.
        loss: it is lost with this class while the agent acts, instead of being scored.
        steps: that are recorded while the agent acts, at even distances, each with its own write and picture.
    """

    length: Length
    score: float = 1.0
    loss: FailureClass | None = None
    steps: int = 1


@dataclass(frozen=True)
class SimulationContext:
    """State shared by the workers of one simulation; `beat` and `poll` are seconds, by default the product's."""

    world: World
    timeline: Timeline
    journal: Journal
    fate: Callable[[Claim], AttemptOutcome]
    provider: str = "local"
    beat: float = 2.0
    poll: float = 2.0


class SimulatedWorker:
    """One node with its slots. Its methods are acts of the timeline."""

    def __init__(self, setting: SimulationContext, node: str, slots: int) -> None:
        """Registers it. Call `start` to have it take work."""
        self._with = setting
        self.node = node
        self.dead = False
        self.errors: list[DeskarenaError] = []
        self._slots = slots
        self._leases: dict[int, UUID] = {}
        self._free_at = dict.fromkeys(range(slots), setting.timeline.now())
        self._lock = Lock()
        self._taking = Lock()
        slots_by_provider, pid = {setting.provider: slots}, next(_PIDS)
        self.id = setting.world.worker(node, slots_by_provider=slots_by_provider, node=node, pid=pid).id

    def start(self) -> None:
        """Starts polling and sending heartbeats."""
        self._free_at = dict.fromkeys(self._free_at, self._with.timeline.now())
        self._with.timeline.later(0.0, self._poll)
        self._with.timeline.later(self._with.beat, self._beat)

    def wake(self) -> None:
        """Polls now, as after a broker's message."""
        self._with.timeline.later(0.0, self._take_work)

    def kill(self) -> None:
        """Ends as a process that is killed: it writes nothing more, gives nothing back, and forgets what it had."""
        self.dead = True

    def _poll(self) -> None:
        if self.dead:
            return
        self._take_work()
        self._with.timeline.later(self._with.poll, self._poll)

    def _take_work(self) -> None:
        """Takes work for all free slots, one round at a time, as a dispatcher's thread does."""
        with self._taking:
            while len(self._leases) < self._slots and not self.dead:
                batch = self._claim(self._slots - len(self._leases))
                for claim in batch:
                    with self._lock:
                        # Its end may be in the database already, but not known here.
                        self._leases[claim.slot.index] = claim.lease_id
                    self._began(claim, self._free_at[claim.slot.index])
                if not batch:
                    return

    def _claim(self, number: int) -> list[Claim]:
        try:
            return claim_episodes(self._with.world, self.id, self._with.provider, number)
        except Unavailable as error:  # The next poll retries.
            self.errors.append(error)
            return []

    def _beat(self) -> None:
        if self.dead:
            return
        with self._lock:
            lease_ids = set(self._leases.values())
        self._write(claims.worker_heartbeat, self.id, lease_ids)
        self._with.timeline.later(self._with.beat, self._beat)

    def _began(self, claim: Claim, free_at: float) -> None:
        """An attempt begins: its desktop is being made."""
        now, fate = self._with.timeline.now(), self._with.fate(claim)
        hold = SlotUse(claim.run_id, claim.episode_id, (self.node, claim.slot.index), free_at, now)
        self._with.journal.leased(claim.attempt_id, hold)
        self._after(fate.length.prepare, claim, lambda: self._running(claim, fate))

    def _write(self, call: Callable[..., Any], *args: Any, **named: Any) -> None:
        self._insist(lambda: self._with.world.do(call, *args, **named))

    def _insist(self, act: Callable[[], object]) -> None:
        """Retries while the database is unavailable or too busy, as `worker/base/database.py` does."""
        for retries in reversed(range(TRIES)):
            try:
                act()
            except Unavailable as error:
                self.errors.append(error)
                if not retries:
                    raise
            else:
                return

    def _after(self, seconds: float, claim: Claim, act: Callable[[], None]) -> None:
        """Continues the attempt later, unless the worker is dead by then or its lease was revoked."""

        def go_on() -> None:
            if self.dead:
                return
            try:
                act()
            except LeaseLost as error:
                self.errors.append(error)
                self._end_claim(claim)

        self._with.timeline.later(seconds, go_on)

    def _running(self, claim: Claim, fate: AttemptOutcome) -> None:
        self._write(attempts.enter_running, claim.fence, {"reset": fate.length.prepare})
        self._playing(claim, fate, self._with.timeline.now())

    def _playing(self, claim: Claim, fate: AttemptOutcome, began: float, step: int = 0) -> None:
        """The agent acts until its next step or its end; the time of writes is not added."""
        due = fate.length.play * (step + 1) / (fate.steps + 1)
        pause = max(0.0, due - (self._with.timeline.now() - began))
        if step < fate.steps:
            self._after(pause, claim, lambda: self._next_step(claim, fate, began, step))
            return
        end = self._lost if fate.loss is not None else self._evaluating
        self._after(pause, claim, lambda: end(claim, fate))

    def _next_step(self, claim: Claim, fate: AttemptOutcome, began: float, step: int) -> None:
        # A unique picture, as on a real screen: steps sharing one picture would all wait for its row.
        picture = f"{claim.attempt_id} {step}".encode()
        self._insist(partial(self._with.world.step, claim, step, picture=picture))
        self._playing(claim, fate, began, step + 1)

    def _lost(self, claim: Claim, fate: AttemptOutcome) -> None:
        failure = fate.loss or FailureClass.GUEST
        self._write(
            attempts.finish_lost,
            claim.fence,
            AttemptFailure(failure, "simulated", "simulated"),
            {"agent": fate.length.play},
        )
        self._next(claim)

    def _evaluating(self, claim: Claim, fate: AttemptOutcome) -> None:
        spent = {"agent": fate.length.play}
        self._write(attempts.enter_evaluating, claim.fence, EndedBy.DONE, spent)
        self._after(fate.length.evaluate, claim, lambda: self._finish_claim(claim, fate))

    def _finish_claim(self, claim: Claim, fate: AttemptOutcome) -> None:
        verdict, spent = evaluation(fate.score), {"evaluation": fate.length.evaluate}
        self._write(attempts.finish_scored, claim.fence, verdict, [], spent)
        self._next(claim)

    def _next(self, claim: Claim) -> None:
        """Reuses the slot under its lease while there is work."""
        free_at = self._with.timeline.now()
        self._with.journal.finished(claim.attempt_id, free_at)
        following = None if self.dead else again(self._with.world, claim)
        if following is not None:
            self._began(following, free_at)
            return
        self._write(claims.release_lease, claim.lease_id, "no more work")
        self._give_back(claim, free_at)

    def _end_claim(self, claim: Claim) -> None:
        """The lease was revoked: the slot is no longer ours."""
        now = self._with.timeline.now()
        self._with.journal.finished(claim.attempt_id, now, is_lost=True)
        self._give_back(claim, now)

    def _give_back(self, claim: Claim, free_at: float) -> None:
        with self._lock:
            if self._leases.get(claim.slot.index) == claim.lease_id:
                del self._leases[claim.slot.index]
                self._free_at[claim.slot.index] = free_at


def claim_episodes(world: World, worker_id: UUID, provider: str, number: int) -> list[Claim]:
    """Leases and claims up to that number, as a dispatcher's round does."""
    batch: list[Claim] = world.do(claims.claim_many, worker_id, provider, min(AT_ONCE, number))
    return batch


def again(world: World, claim: Claim) -> Claim | None:
    """The next episode under the same lease; None if nothing waits, or the lease is not ours any more."""
    try:
        next_claim: Claim | None = world.do(claims.claim_next, claim.lease_id)
    except (LeaseLost, Unavailable):
        return None
    return next_claim
