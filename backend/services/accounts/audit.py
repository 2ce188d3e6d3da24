"""The audit log: who did what, from where, and what it changed."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import event, inspect
from sqlalchemy.orm import ORMExecuteState, Session

from backend.db.models import AuditEntry
from backend.db.repositories.accounts import audit as repository
from backend.db.repositories.pagination import CursorPage, decode
from backend.services.accounts.audited_statements import SECRET, StatementRows, brief, is_change, writes
from backend.services.accounts.principal import NO_PROJECT, principal_of
from backend.services.accounts.read_models import AuditView

MOST_CHANGES = 50
_CHANGES, _RECORDED, _WROTE = "audit_changes", "audit_recorded", "audit_wrote"
_OWN_BOOKS = frozenset({"artifact", "audit_entry", "event", "idempotent_request", "stream_ticket", "user_session"})
"""Tables that people do not edit."""


def record(session: Session, action: str, target: str = "", changes: Mapping[str, Any] | None = None) -> None:
    """Adds an entry about the transaction's principal; it is kept if the transaction is.

    Args:
        session: the transaction.
        action: what is done.
        target: to what.
        changes: value before and after by what changed. Never secrets.
    """
    principal = principal_of(session)
    session.info[_RECORDED] = True
    session.add(
        AuditEntry(
            who=principal.name,
            project_id=_real_project(principal.project_id),
            action=action,
            target=target,
            address=principal.address,
            changes=dict(changes or {}),
        )
    )


def record_nothing(session: Session) -> None:
    """The transaction's request changes nothing that anybody would look for in the log."""
    session.info[_RECORDED] = True


def _real_project(project_id: UUID | None) -> UUID | None:
    return None if project_id == NO_PROJECT else project_id


def watch(session: Session) -> None:
    """Notes from now on which columns of rows change, for `record_request`: of objects and of bulk statements."""
    changes: dict[str, Any] = session.info.setdefault(_CHANGES, {})

    def keep(pairs: Iterable[tuple[str, list[Any]]]) -> None:
        for name, (before, after) in pairs:
            if len(changes) < MOST_CHANGES or name in changes:
                changes[name] = [changes.get(name, [before])[0], after]

    def note_objects(_session: Session, *_: Any) -> None:
        session.info[_WROTE] = session.info.get(_WROTE) or bool(session.new or session.dirty or session.deleted)
        for row in session.dirty:
            keep(_changes_of(row))
        keep((f"{inspect(row).mapper.local_table.name}.id", [str(row.id), None]) for row in session.deleted)

    def note_statement(state: ORMExecuteState) -> Any:
        session.info[_WROTE] = session.info.get(_WROTE) or writes(state)
        if not is_change(state) or state.statement.table.name in _OWN_BOOKS:  # type: ignore[attr-defined]
            return None
        session.flush()  # The statement sees what is written.
        rows = StatementRows(session, state)
        result = state.invoke_statement()
        keep(rows.changes())
        return result

    event.listen(session, "before_flush", note_objects)
    event.listen(session, "do_orm_execute", note_statement)


def record_request(session: Session, action: str, target: str) -> None:
    """Adds an entry about a request and what it changed, unless its service has recorded what was done.

    Nothing is added if nothing was written: a form that is shown again with what is wrong in it has changed nothing.
    """
    session.flush()
    if session.info.get(_WROTE) and not session.info.get(_RECORDED):
        record(session, action, target, session.info.get(_CHANGES))


def _changes_of(row: Any) -> Iterator[tuple[str, list[Any]]]:
    """Changed columns with their values before and after; secrets, hashes and long values are left out."""
    state = inspect(row)
    for column in state.mapper.column_attrs:
        history = state.attrs[column.key].history
        if history.has_changes() and not column.key.endswith(SECRET):
            pair = [next(iter(values or ()), None) for values in (history.deleted, history.added)]
            yield f"{state.mapper.local_table.name}.{column.key}", [brief(value) for value in pair]


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Changed values, before and after."""
    return {name: [before.get(name), value] for name, value in after.items() if before.get(name) != value}


def page(session: Session, cursor: str | None, limit: int) -> CursorPage[AuditView]:
    """A page of the log, the newest first. Raises NotAllowed unless an administrator asks, Invalid for a bad cursor."""
    rows = list_entries(session, limit + 1, decode(cursor) if cursor else None)
    return CursorPage(rows[:limit], rows[limit - 1].id.hex if len(rows) > limit else None)


def list_entries(
    session: Session,
    limit: int = 100,
    cursor: UUID | None = None,
    *,
    words: str = "",
    oldest_first: bool = False,
) -> list[AuditView]:
    """Entries beyond `cursor`, the newest first or the oldest; `words`: part of who, action, target or address.

    Raises NotAllowed unless an administrator asks.
    """
    principal_of(session).require_admin()
    rows = repository.listing(session, limit, cursor, words=words.strip(), oldest_first=oldest_first)
    return [AuditView.model_validate(entry) for entry in rows]
