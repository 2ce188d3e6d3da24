"""The status of an installation, for people and uptime checkers: no names, addresses or errors of servers."""

import time
from collections.abc import Callable
from enum import StrEnum

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.repositories.monitoring import status as repository
from backend.db.session import SessionFactory
from backend.domain.errors import DeskarenaError, Unavailable
from backend.domain.ports.storage import ArtifactStore
from backend.services.capacity.maintenance_mode import MaintenanceView, maintenance
from backend.services.events import broker_state
from backend.services.monitoring.cached_read import of_installation
from backend.services.read_model import ReadModel
from backend.services.scheduling import autoscaling_signals
from backend.services.scheduling.autoscaling_signals import Signals

LONG_WAIT = 900.0
"""Seconds that an episode may wait while desktops are free."""
_ABSENT = "0" * 64


class PartState(StrEnum):
    """State of a part, and of the whole."""

    UP = "up"
    DEGRADED = "degraded"
    DOWN = "down"


class StatusPart(ReadModel):
    """One part of the installation."""

    name: str = Field(examples=["workers"])
    state: PartState
    text: str = Field(description="What that means.", examples=["2 online"])


class InstallationStatus(ReadModel):
    """Whether the installation can do its work. `down`: nothing can be stored or shown."""

    state: PartState
    parts: list[StatusPart]
    maintenance: str = Field(
        default="", description="Reason of the maintenance, during which nothing starts; empty without one."
    )


def status_of(factory: Callable[[], SessionFactory], store: Callable[[], ArtifactStore]) -> InstallationStatus:
    """The status now. Never raises: what does not answer is down.

    Args:
        factory: of sessions.
        store: of artifacts. Both may raise Unavailable.
    """
    parts, mode = [_broker(), _storage(store)], MaintenanceView(on=False)
    try:
        mode, of_database = of_installation(factory(), _of_database)
        parts = [_part("database", PartState.UP, "answers"), *parts, *of_database]
    except Unavailable:
        parts = [_part("database", PartState.DOWN, "does not answer"), *parts]
    states = {part.state for part in parts}
    state = next((state for state in (PartState.DOWN, PartState.DEGRADED) if state in states), PartState.UP)
    return InstallationStatus(state=state, parts=parts, maintenance=mode.reason)


def _of_database(session: Session) -> tuple[MaintenanceView, list[StatusPart]]:
    mode = maintenance(session)
    return mode, [_workers(session), _queue(autoscaling_signals.gather(session), paused=mode.on)]


def _storage(store: Callable[[], ArtifactStore]) -> StatusPart:
    try:
        store().age(_ABSENT, time.time())
    except DeskarenaError:
        return _part("storage", PartState.DOWN, "does not answer")
    return _part("storage", PartState.UP, "answers")


def _part(name: str, state: PartState, text: str) -> StatusPart:
    return StatusPart(name=name, state=state, text=text)


def _broker() -> StatusPart:
    if broker_state() == "ok":
        return _part("redis", PartState.UP, "answers")
    return _part("redis", PartState.DEGRADED, "does not answer: work starts later, live views stand still")


def _workers(session: Session) -> StatusPart:
    row = repository.workers_online(session)
    if not row.heard:
        return _part("workers", PartState.DEGRADED, "none is online: nothing starts")
    if row.blocked:
        return _part("workers", PartState.DEGRADED, f"{row.blocked} of {row.heard} cannot store results")
    if row.heard < row.online:
        return _part("workers", PartState.DEGRADED, f"{row.online - row.heard} of {row.online} are silent")
    return _part("workers", PartState.UP, f"{row.heard} online")


def _queue(signals: Signals, *, paused: bool) -> StatusPart:
    """Degraded if an episode waits for long although a desktop of its kind is free."""
    oldest = max(signals.oldest.values(), default=0.0)
    stuck = [name for name, seconds in signals.oldest.items() if seconds > LONG_WAIT and signals.in_state(name, "free")]
    text = f"the oldest episode has waited for {round(oldest / 60)} min" if oldest else "nothing waits for a desktop"
    if stuck and not paused:
        return _part("queue", PartState.DEGRADED, f"{text} although desktops are free")
    return _part("queue", PartState.UP, text)
