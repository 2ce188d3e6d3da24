"""Tickets of streams: what a client that cannot send headers puts into the address of a websocket or event stream.

A ticket opens one stream once, within `LIFE`, and does what the session or token does for which it was made: when that
ends, so does the stream. An address may lie in logs and histories; a used ticket in it is worth nothing.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from backend.addresses import API
from backend.db.models import StreamTicket
from backend.db.repositories.accounts import stream_tickets as repository
from backend.db.repositories.accounts import users
from backend.domain.errors import Invalid
from backend.services.accounts import audit
from backend.services.accounts.secret_tokens import is_token, new_token, token_hash

LIFE = timedelta(seconds=30)
_KIND = "dkt"
_STREAMS = re.compile(rf"/ws/[\w/-]{{1,100}}|{API}/runs/[\w-]{{1,40}}/events", re.ASCII)


@dataclass(frozen=True)
class Credential:
    """Owner of a stream: the kind of credential, its SHA-256 (hex), and the name of the project."""

    kind: str
    hash: str
    project: str


def is_stream(path: str) -> bool:
    """Whether tickets open the path."""
    return _STREAMS.fullmatch(path) is not None


def issue(session: Session, credential: Credential, path: str) -> tuple[str, datetime]:
    """Makes a ticket for a path. Returns it, which is not stored, and when it ends.

    Raises:
        Invalid: the path is not one of a stream.
    """
    if not is_stream(path):
        raise Invalid(
            f"{path[:200]!r} is not the path of a stream",
            code="not_a_stream",
            path="path",
            hint=f"Name a path such as /ws/events or {API}/runs/RUN/events, without a query.",
        )
    repository.clean(session)
    ticket, ends = new_token(_KIND), users.now(session) + LIFE
    row = StreamTicket(
        token_hash=token_hash(ticket),
        credential=credential.kind,
        credential_hash=credential.hash,
        project=credential.project,
        path=path,
        expires_at=ends,
    )
    session.add(row)
    audit.record_nothing(session)
    return ticket, ends


def redeem(session: Session, ticket: str, path: str) -> Credential | None:
    """The credential of a ticket, usable once; None for an unknown, used or expired ticket, or another path."""
    row = repository.take(session, token_hash(ticket), path) if is_token(ticket, _KIND) else None
    return None if row is None else Credential(row.credential, row.credential_hash, row.project)
