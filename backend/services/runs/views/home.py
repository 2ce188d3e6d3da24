"""View of the home page."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from backend.db.repositories.capacity import workers as worker_repository
from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.runs import home_view as repository
from backend.domain.model.reason import Reason, ReasonCode, stored_reason
from backend.services.capacity.views.endpoints import live_waits
from backend.services.lifecycle.lease_reaper import DIED
from backend.services.runs.views.run_rows import RunRow, Tile, run_rows, tiles
from backend.services.scheduling.wait_reasons import WaitGroup, explain_alike, tasks_with_functions

LATEST = 8
NEWS = 6
LONG_WAIT = timedelta(seconds=60)
RESTART = ("Start it again", "/docs/start.html")


@dataclass(frozen=True)
class Slots:
    """Number of desktops that can run; closed ones are unusable, because of their node or a missing worker."""

    used: int
    free: int
    broken: int
    draining: int
    closed: int

    @property
    def total(self) -> int:
        return self.used + self.free + self.broken + self.draining + self.closed


@dataclass(frozen=True)
class Wait:
    """Number of episodes that wait for one reason."""

    reason: Reason
    episodes: int


@dataclass(frozen=True)
class Alarm:
    """Something that needs attention, for as long as it does.

    Attributes:
        kind: flagged, quarantine, worker, silent, slot or endpoint.
        link: page where one sees it.
        remedy: text and address of what to do about it; empty if the page itself says it.
    """

    kind: str
    title: str
    text: str
    link: str
    at: datetime | None = None
    remedy: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Home:
    """Content of the home page."""

    tiles: list[Tile]
    slots: Slots
    queue: list[Wait]
    ended_today: int
    runs: list[RunRow]
    alarms: list[Alarm]

    @property
    def waiting(self) -> int:
        """Number of waiting episodes."""
        return sum(wait.episodes for wait in self.queue)


def home(session: Session) -> Home:
    """The whole page; the number of queries does not depend on the number of episodes."""
    slots = _slots(repository.slots(session))
    return Home(
        tiles=tiles(session),
        slots=slots,
        queue=_queue(session, repository.waiting(session, tasks_with_functions(session))),
        ended_today=repository.ended_in_a_day(session),
        runs=run_rows(session, repository.latest_runs(session, LATEST)),
        alarms=_alarms(session),
    )


def _slots(rows: Sequence[AnyRow]) -> Slots:
    counts: Counter[str] = Counter()
    for row in rows:
        counts["used" if row.leased else row.state] += row.n
    return Slots(**{name: counts[name] for name in ("used", "free", "broken", "draining", "closed")})


def _queue(session: Session, rows: Sequence[AnyRow]) -> list[Wait]:
    """By reason, most frequent first."""
    reasons = explain_alike(session, {_alike(row) for row in rows if not row.later})
    counts: Counter[Reason] = Counter()
    for row in rows:
        turn = Reason(ReasonCode.DESKTOPS_IN_USE, f"waiting for a free {row.provider} desktop")
        counts[_later(row) if row.later else reasons.get(_alike(row), turn)] += row.n
    return [Wait(reason, episodes) for reason, episodes in counts.most_common()]


def _alike(row: AnyRow) -> WaitGroup:
    return WaitGroup(row.run_id, row.requirements_id, stored_reason(row.reason_code, row.reason), row.apart)


def _later(row: AnyRow) -> Reason:
    if row.run_state == "paused":
        return Reason(ReasonCode.RUN_PAUSED, "the run is paused")
    pause = Reason(ReasonCode.RETRY_DELAY, "waiting before the next attempt")
    return stored_reason(row.reason_code, row.reason) or pause


def _alarms(session: Session) -> list[Alarm]:
    """Those of machines first. Each ends by itself, when its cause does."""
    flagged = [
        Alarm(
            "flagged",
            row.Task.key,
            f"{row.Episode.flag_reason} ({row.title})",
            f"/episodes/{row.Episode.id}",
            row.Episode.ended_at,
        )
        for row in repository.flagged_episodes(session, NEWS)
    ]
    quarantined = [
        Alarm("quarantine", row.Task.key, row.Quarantine.reason, f"/tasks/{row.Task.id}", row.Quarantine.created_at)
        for row in repository.quarantined_tasks(session, NEWS)
    ]
    workers = [
        Alarm("worker", worker.name, "stopped responding during an attempt", "/workers", worker.heartbeat_at, RESTART)
        for worker in repository.lost_workers(session, DIED)
    ]
    silent = [
        Alarm(
            "silent", row.name, "sends no heartbeats; its attempts are lost soon", "/workers", row.silent_since, RESTART
        )
        for row in repository.silent_workers(session)
    ]
    slots = [
        Alarm("slot", f"{row.name}, {row.Slot.provider} {row.Slot.index}", row.Slot.reason or "broken", "/workers",
              remedy=("Find the fault", "/docs/cli.html#deskarena-doctor"))
        for row in repository.broken_slots(session)
    ]  # fmt: skip
    return [*workers, *silent, *_endpoint_alarms(session), *slots, *flagged, *quarantined]


def _endpoint_alarms(session: Session) -> list[Alarm]:
    """Endpoints whose errors attempts have been waiting out for a minute."""
    alarms: list[Alarm] = []
    waiting = live_waits(session)
    if not waiting:
        return alarms
    latest = worker_repository.now(session) - LONG_WAIT  # Waits are dated by the database's clock.
    for name, waits in waiting.items():
        failing = [wait for wait in waits if wait.words and wait.since < latest]
        if failing:
            number = f"{len(failing)} attempt{'' if len(failing) == 1 else 's'}"
            message = f"{number} waiting: {failing[0].words}"
            remedy = ("What is retried", "/docs/models.html#failures")
            alarms.append(Alarm("endpoint", name, message, f"/endpoints#{name}", failing[0].since, remedy))
    return alarms
