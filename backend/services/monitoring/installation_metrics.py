"""Metrics that are properties of the database: every API process reports the same.

Those of one process are in `backend.telemetry.metrics`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from prometheus_client.core import GaugeMetricFamily
from sqlalchemy.orm import Session

from backend.db.models.enums import WorkerState
from backend.db.repositories.capacity import workers
from backend.db.repositories.monitoring import installation_metrics as repository
from backend.domain.errors import FailureClass
from backend.domain.model.episode import Outcome, RunState
from backend.services.capacity import maintenance_mode
from backend.services.scheduling import autoscaling_signals
from backend.services.scheduling.autoscaling_signals import Signals
from backend.telemetry.metrics import gauge

ENDED_SECONDS = 3600.0


@dataclass(frozen=True)
class InstallationMetrics:
    """Figures of the installation, as of one moment.

    Attributes:
        signals: what waits, runs and is free.
        runs: runs that have not ended, by state.
        workers: workers by state.
        leases: (number, seconds since the oldest heartbeat) of live leases by (provider, code of what they wait for).
        ended: episodes that ended within the last hour, by (outcome, failure class or empty).
        frame_ages: seconds since the oldest of the newest screenshots of running attempts, by provider.
        rollups: runs with figures that are out of date, and the age of the oldest of these in seconds.
        reevaluations: attempts that wait to be scored again.
        maintenance: nothing starts.
    """

    signals: Signals
    runs: Mapping[str, int]
    workers: Mapping[str, int]
    leases: Mapping[tuple[str, str], tuple[int, float]]
    ended: Mapping[tuple[str, str], int]
    frame_ages: Mapping[str, float]
    rollups: tuple[int, float]
    reevaluations: int
    maintenance: bool


def gather(session: Session) -> InstallationMetrics:
    """All figures, as of now."""
    since = workers.now(session) - timedelta(seconds=ENDED_SECONDS)
    rollups = repository.rollups_behind(session)
    return InstallationMetrics(
        signals=autoscaling_signals.gather(session),
        runs={row.state: row.number for row in repository.open_runs(session)},
        workers={row.state: row.number for row in repository.workers_by_state(session)},
        leases={
            (row.provider, row.wait_reason): (row.number, _age(row.age)) for row in repository.live_leases(session)
        },
        ended={(row.outcome, row.failure_class or ""): row.number for row in repository.ended_since(session, since)},
        frame_ages={row.provider: _age(row.age) for row in repository.frame_ages(session)},
        rollups=(rollups.number, _age(rollups.age)),
        reevaluations=repository.reevaluations_waiting(session),
        maintenance=maintenance_mode.is_on(session),
    )


def _age(seconds: float) -> float:
    return max(0.0, float(seconds))


def families(metrics: InstallationMetrics) -> list[GaugeMetricFamily]:
    """As Prometheus metrics. Zeros are included, so that alerts see them."""
    classes = ("", *FailureClass)
    pairs = [(out, reason) for out in Outcome for reason in classes if bool(reason) == (out is Outcome.LOST)]
    providers = sorted({*metrics.signals.providers, *(provider for provider, _ in metrics.leases)})
    leases = dict.fromkeys(((name, "") for name in providers), (0, 0.0)) | dict(metrics.leases)
    return [
        *autoscaling_signals.families(metrics.signals),
        gauge(
            "deskarena_runs",
            "Runs that have not ended, by state.",
            [
                ({"state": state.value}, metrics.runs.get(state, 0))
                for state in (RunState.QUEUED, RunState.RUNNING, RunState.PAUSED)
            ],
        ),
        gauge(
            "deskarena_workers",
            "Workers by state.",
            [({"state": state.value}, metrics.workers.get(state, 0)) for state in WorkerState],
        ),
        gauge(
            "deskarena_leases",
            "Live leases, by what their attempt waits for.",
            [
                ({"provider": name, "waits_for": reason}, number)
                for (name, reason), (number, _) in sorted(leases.items())
            ],
        ),
        gauge(
            "deskarena_lease_heartbeat_age_seconds",
            "Seconds since the oldest heartbeat of a live lease.",
            [
                ({"provider": name}, max(age for (its, _), (_, age) in leases.items() if its == name))
                for name in providers
            ],
        ),
        gauge(
            "deskarena_episodes_ended_last_hour",
            "Episodes that ended within the last hour, by outcome and failure class.",
            [({"outcome": out, "failure_class": reason}, metrics.ended.get((out, reason), 0)) for out, reason in pairs],
        ),
        gauge(
            "deskarena_frame_age_seconds",
            "Of running attempts, the longest time since the last recorded screenshot.",
            [({"provider": name}, metrics.frame_ages.get(name, 0.0)) for name in providers],
        ),
        gauge("deskarena_rollups_behind", "Runs whose figures are out of date.", [({}, metrics.rollups[0])]),
        gauge(
            "deskarena_rollup_lag_seconds",
            "Age of the oldest figures that are out of date.",
            [({}, metrics.rollups[1])],
        ),
        gauge(
            "deskarena_reevaluations_waiting", "Attempts that wait to be scored again.", [({}, metrics.reevaluations)]
        ),
        gauge("deskarena_maintenance", "Whether maintenance mode is on.", [({}, int(metrics.maintenance))]),
    ]
