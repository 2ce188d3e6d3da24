"""Signals for autoscalers and alarms: what waits, runs and is free. Cached for 5 s."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Lock

from sqlalchemy.orm import Session

from backend.db.project_scope import visible_project
from backend.db.repositories.capacity import workers
from backend.db.repositories.scheduling import autoscaling_signals as repository
from backend.db.session import SessionFactory, read_only
from backend.domain.machines.nodes import NodeState
from backend.domain.scheduling.prometheus_text import Family, gauge
from backend.services.scheduling.scheduler_demand import episode_demand

FRESH_SECONDS = 5.0
LOST_SECONDS, LEASES_SECONDS = 3600.0, 60.0
REASONS = ("ready", "later", "held", "paused")
"""Why episodes wait: for a slot, for the end of a pause, for a person or a repeated evaluation, or because their run is
paused.
"""


@dataclass(frozen=True)
class Signals:
    """Current signals.

    Attributes:
        queue: waiting episodes by (provider, reason).
        oldest: seconds for which the oldest episode has waited for a slot, by provider.
        attempts: running attempts by (provider, state).
        slots: slots by (provider, state of their node, `free`, `leased` or `closed`).
        lost: attempts lost within the last hour, by failure class.
        leases: leases taken per second over the last minute, by provider.
        workers: (state, seconds since the last heartbeat) by name.
        beginning: waiting episodes that would start with enough slots, by provider.
    """

    queue: Mapping[tuple[str, str], int]
    oldest: Mapping[str, float]
    attempts: Mapping[tuple[str, str], int]
    slots: Mapping[tuple[str, str, str], int]
    lost: Mapping[str, int]
    leases: Mapping[str, float]
    workers: Mapping[str, tuple[str, float]]
    beginning: Mapping[str, int] = field(default_factory=dict)

    @property
    def providers(self) -> list[str]:
        """All providers that occur anywhere."""
        names = {provider for provider, _ in (*self.queue, *self.attempts)} | {
            provider for provider, _, _ in self.slots
        }
        return sorted(names)

    def waiting(self, provider: str, reason: str = "ready") -> int:
        """Number of a provider's episodes that wait for that reason."""
        return self.queue.get((provider, reason), 0)

    def running(self, provider: str) -> int:
        """Number of a provider's running attempts."""
        return sum(number for (name, _), number in self.attempts.items() if name == provider)

    def demand(self, provider: str) -> int:
        """Desktops that would be used with enough slots: autoscalers size workers or nodes by it."""
        return self.beginning.get(provider, 0) + self.running(provider)

    def in_state(self, provider: str, state: str) -> int:
        """Number of a provider's slots that are `free`, `leased` or `closed`."""
        return sum(number for (name, _, its), number in self.slots.items() if (name, its) == (provider, state))


def gather(session: Session) -> Signals:
    """All signals, as of now."""
    now = workers.now(session)
    queue = repository.queue(session, now)
    leases = repository.leases_since(session, now - timedelta(seconds=LEASES_SECONDS))
    lost = repository.lost_since(session, now - timedelta(seconds=LOST_SECONDS))
    return Signals(
        queue={(row.provider, row.reason): row.episodes for row in queue},
        oldest={row.provider: max(0.0, (now - row.oldest).total_seconds()) for row in queue if row.reason == "ready"},
        attempts={(row.provider, row.state): row.number for row in repository.attempts(session)},
        slots={(row.provider, row.node, row.state): row.number for row in repository.slots(session)},
        lost={row.failure_class: row.number for row in lost},
        leases={row.provider: row.number / LEASES_SECONDS for row in leases},
        beginning=_beginning(session),
        workers={row.name: (row.state, max(0.0, float(row.age))) for row in repository.workers(session)},
    )


def _beginning(session: Session) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for each in episode_demand(session):
        counts[each.provider] += each.number
    return dict(counts)


class CachedSignals:
    """Signals that are at most a few seconds old: of concurrent callers one queries, the others wait for it."""

    def __init__(
        self, factory: SessionFactory, *, seconds: float = FRESH_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Args: factory of sessions; seconds: maximum age; clock: monotonic."""
        self._factory, self._seconds, self._clock = factory, seconds, clock
        self._lock = Lock()
        self._signals: Signals | None = None
        self._until = 0.0

    def signals(self) -> Signals:
        """Signals of a few seconds ago at most. Raises Unavailable if the database is."""
        with self._lock:
            if self._signals is None or self._clock() >= self._until:
                # Of the whole installation, whoever asks first.
                with visible_project(None), read_only(self._factory) as session:
                    self._signals = gather(session)
                self._until = self._clock() + self._seconds
            return self._signals


def families(signals: Signals) -> list[Family]:
    """As Prometheus metrics. Zeros are included, so that alarms see them."""
    of = signals.providers
    slots = [
        ({"provider": name, "node_state": node.value, "state": state}, signals.slots.get((name, node.value, state), 0))
        for name in of
        for node in NodeState
        for state in ("free", "leased", "closed")
    ]
    return [
        gauge(
            "deskarena_queue_episodes",
            "Episodes that wait, by provider and reason.",
            [({"provider": name, "reason": why}, signals.waiting(name, why)) for name in of for why in REASONS],
        ),
        gauge(
            "deskarena_queue_oldest_seconds",
            "How long the oldest episode has been waiting for a slot.",
            [({"provider": name}, signals.oldest.get(name, 0.0)) for name in of],
        ),
        gauge(
            "deskarena_desktops_wanted",
            "Desktops that would be used if there were slots enough: episodes that would begin, attempts under way.",
            [({"provider": name}, signals.demand(name)) for name in of],
        ),
        gauge(
            "deskarena_attempts_live",
            "Attempts under way, by provider and state.",
            [
                ({"provider": name, "state": state}, number)
                for (name, state), number in sorted(signals.attempts.items())
            ],
        ),
        gauge("deskarena_slots", "Slots by provider, state of their node, and whether they are leased.", slots),
        gauge(
            "deskarena_attempts_lost_last_hour",
            "Attempts that were lost within the last hour, by failure class.",
            [({"failure_class": name}, number) for name, number in sorted(signals.lost.items())],
        ),
        gauge(
            "deskarena_leases_per_second",
            "Leases taken per second, over the last minute.",
            [({"provider": name}, signals.leases.get(name, 0.0)) for name in of],
        ),
        gauge(
            "deskarena_worker_heartbeat_age_seconds",
            "Seconds since a worker was last heard of.",
            [({"worker": name, "state": state}, age) for name, (state, age) in sorted(signals.workers.items())],
        ),
    ]
