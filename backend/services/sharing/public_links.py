"""Public links: one view of a board, read only, for everybody who has the address, until it expires or is revoked."""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.addresses import EMBED_PATH, PUBLIC_PATH
from backend.db.models import PublicLink
from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.sharing import public_links as repository
from backend.domain.errors import Gone, Invalid, NotFound
from backend.services.benchmarks.benchmarks import get_benchmark
from backend.services.read_model import ReadModel
from backend.services.results.board_query import BoardQuery, checked_query, stored_query

TOKEN_BYTES = 32
USUAL_DAYS, MOST_DAYS = 30, 366
MOST_LISTED = 200
LONGEST_TITLE = 120


class PublicLinkView(ReadModel):
    """A public link, without its address: that is shown once."""

    id: UUID
    benchmark: str
    title: str = Field(description="For the list; visitors do not see it.")
    query: dict[str, Any] = Field(description="Of the board's address.")
    state: Literal["open", "expired", "revoked"]
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None


class NewPublicLink(PublicLinkView):
    """A public link with its addresses, which cannot be shown again."""

    token: str
    address: str = Field(examples=["/public/TOKEN"])
    embed_address: str = Field(description="The same for a frame of another site.", examples=["/embed/TOKEN"])


@dataclass(frozen=True)
class SharedBoard:
    """Content of a public link; `ignored`: parts of the stored query that this release cannot use."""

    link: PublicLinkView
    query: BoardQuery
    ignored: list[str]
    project_id: UUID


def create_link(
    session: Session, benchmark: str, query: Mapping[str, Any], *, days: int = USUAL_DAYS, title: str = ""
) -> NewPublicLink:
    """Opens a view of a board to everybody who has the link.

    Raises:
        NotFound: there is no such benchmark.
        Invalid: boards cannot have this query; or the days or the title are out of bounds.
    """
    if not 1 <= days <= MOST_DAYS:
        raise Invalid(f"expected 1 to {MOST_DAYS} days", code="invalid_link", path="days")
    title = title.strip()
    if len(title) > LONGEST_TITLE or (title and not title.isprintable()):
        raise Invalid(
            f"expected a title of at most {LONGEST_TITLE} characters on one line", code="invalid_link", path="title"
        )
    token = secrets.token_urlsafe(TOKEN_BYTES)
    row = PublicLink(
        benchmark_id=get_benchmark(session, benchmark).id,
        title=title,
        query=checked_query(query).stored,
        token_hash=_hash(token),
        expires_at=datetime.now(UTC) + timedelta(days=days),
        revoked_at=None,
    )
    session.add(row)
    session.flush()
    return NewPublicLink(
        **get_link(session, row.id).model_dump(),
        token=token,
        address=f"{PUBLIC_PATH}{token}",
        embed_address=f"{EMBED_PATH}{token}",
    )


def list_links(session: Session, benchmark: str | None = None) -> list[PublicLinkView]:
    """The newest links of a benchmark, or of all, ended ones too. Raises NotFound."""
    benchmark_id = get_benchmark(session, benchmark).id if benchmark is not None else None
    return [_view(row) for row in repository.listing(session, benchmark_id, MOST_LISTED)]


def get_link(session: Session, link_id: UUID) -> PublicLinkView:
    """The link. Raises NotFound."""
    return _view(_row(session, link_id))


def revoke_link(session: Session, link_id: UUID) -> PublicLinkView:
    """Closes a link at once. Safe to repeat. Raises NotFound."""
    link: PublicLink = _row(session, link_id).PublicLink
    link.revoked_at = link.revoked_at or datetime.now(UTC)
    session.flush()
    return get_link(session, link_id)


def shared_board(session: Session, token: str) -> SharedBoard:
    """The board of a token.

    Raises:
        NotFound: no link has this token.
        Gone: it has expired or was revoked.
    """
    row = repository.by_token_hash(session, _hash(token))
    if row is None:
        raise NotFound(
            "This link does not exist.",
            code="public_link_not_found",
            hint="Check that the whole address was copied, or ask the sender.",
        )
    link = _view(row)
    if link.state == "revoked":
        raise Gone("This link was revoked.", code="public_link_revoked", hint="Ask the sender for a new one.")
    if link.state == "expired":
        raise Gone("This link has expired.", code="public_link_expired", hint="Ask the sender for a new one.")
    return SharedBoard(link, *stored_query(row.PublicLink.query), row.project_id)


def _row(session: Session, link_id: UUID) -> AnyRow:
    row = repository.by_id(session, link_id)
    if row is None:
        raise NotFound(
            "Public link not found.",
            code="public_link_not_found",
            hint="GET /api/v1/public-links lists them.",
        )
    return row


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _view(row: AnyRow) -> PublicLinkView:
    link: PublicLink = row.PublicLink
    return PublicLinkView(
        id=link.id,
        benchmark=row.benchmark,
        title=link.title,
        query=stored_query(link.query)[0].stored,
        state="revoked" if link.revoked_at else "expired" if row.expired else "open",
        created_at=link.created_at,
        expires_at=link.expires_at,
        revoked_at=link.revoked_at,
    )
