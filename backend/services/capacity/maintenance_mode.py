"""Maintenance mode: no work starts, what runs finishes. Its state is in Postgres, for all processes at once."""

from datetime import datetime

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.models import Maintenance
from backend.db.repositories.capacity import maintenance as repository
from backend.db.repositories.scheduling import scheduler
from backend.domain.errors import Invalid, Unavailable
from backend.services.accounts import audit
from backend.services.accounts.principal import principal_of
from backend.services.events import worker_wakeup
from backend.services.read_model import ReadModel

LONGEST_REASON = 500


class MaintenanceView(ReadModel):
    """Whether maintenance mode is on, since when, by whom and why."""

    on: bool
    reason: str = Field(default="", examples=["PostgreSQL is upgraded until 18:00 UTC"])
    started_by: str = ""
    started_at: datetime | None = None


class InMaintenance(Unavailable):
    """Work does not start during maintenance (503)."""

    code = "in_maintenance"
    retry_after = 60

    def __init__(self, reason: str) -> None:
        super().__init__(f"maintenance: {reason}", hint="Nothing new starts during maintenance. Try again afterwards.")


def maintenance(session: Session) -> MaintenanceView:
    """Whether it is on."""
    row = repository.current(session)
    if row is None:
        return MaintenanceView(on=False)
    return MaintenanceView(on=True, reason=row.reason, started_by=row.started_by, started_at=row.started_at)


def begin_maintenance(session: Session, reason: str) -> MaintenanceView:
    """Turns it on, or changes the reason. Once this is committed, nothing starts any more; running attempts finish.

    Raises:
        NotAllowed: only administrators may.
        Invalid: the reason is empty or too long.
    """
    principal = principal_of(session)
    principal.require_admin()
    reason = " ".join(reason.split())
    if not 0 < len(reason) <= LONGEST_REASON or not reason.isprintable():
        raise Invalid(f"expected a reason of 1 to {LONGEST_REASON} characters", code="invalid_request", path="reason")
    scheduler.enter(session)  # Whoever assigns slots now is waited for.
    row, before = repository.current(session), None
    if row is None:
        session.add(Maintenance(reason=reason, started_by=principal.name))
    else:
        before, row.reason = row.reason, reason
    audit.record(session, "maintenance on", changes={"reason": [before, reason]})
    return maintenance(session)


def end_maintenance(session: Session) -> MaintenanceView:
    """Turns it off; workers continue at once. Safe to call twice. Raises NotAllowed: only administrators may."""
    principal_of(session).require_admin()
    before = maintenance(session)
    if repository.end(session):
        audit.record(session, "maintenance off", changes={"reason": [before.reason, None]})
        worker_wakeup.wake_workers(session)
    return MaintenanceView(on=False)


def is_on(session: Session) -> bool:
    """Whether nothing may start."""
    return repository.current(session) is not None


def refuse_in_maintenance(session: Session) -> None:
    """Raises InMaintenance while it is on: for everything that starts work."""
    row = repository.current(session)
    if row is not None:
        raise InMaintenance(row.reason)
