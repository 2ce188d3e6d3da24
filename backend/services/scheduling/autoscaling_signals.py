"""Signals for autoscalers and alarms: what waits, runs and is free."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from prometheus_client.core import GaugeMetricFamily
from sqlalchemy.orm import Session

from backend.db.repositories.capacity import workers
from backend.db.repositories.scheduling import autoscaling_signals as repository
from backend.domain.machines.nodes import NodeState
from backend.services.scheduling.scheduler_demand import episode_demand
from backend.telemetry.metrics import gauge

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
    for waiting in episode_demand(session):
        counts[waiting.provider] += waiting.number
    return dict(counts)


def families(signals: Signals) -> list[GaugeMetricFamily]:
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
            [
                ({"provider": name, "reason": reason}, signals.waiting(name, reason))
                for name in of
                for reason in REASONS
            ],
        ),
        gauge(
            "deskarena_queue_oldest_seconds",
            "How long the oldest episode has been waiting for a slot.",
            [({"provider": name}, signals.oldest.get(name, 0.0)) for name in of],
        ),
        gauge(
            "deskarena_desktops_wanted",
            "Desktops that would be used with enough slots: episodes that would start, and running attempts.",
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
