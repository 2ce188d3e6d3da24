"""Public links to boards."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.db.models import Benchmark, PublicLink
from backend.db.repositories.common_queries import AnyRow

_WITH_BENCHMARK = select(
    PublicLink,
    Benchmark.name.label("benchmark"),
    Benchmark.project_id,
    (PublicLink.expires_at <= func.now()).label("expired"),
).join(Benchmark, Benchmark.id == PublicLink.benchmark_id)


def listing(session: Session, benchmark_id: UUID | None, limit: int) -> Sequence[AnyRow]:
    """(PublicLink, benchmark, expired) of one benchmark or of all, newest first."""
    query = _WITH_BENCHMARK.order_by(PublicLink.id.desc()).limit(limit)
    if benchmark_id is not None:
        query = query.where(PublicLink.benchmark_id == benchmark_id)
    return session.execute(query).all()


def by_id(session: Session, link_id: UUID) -> AnyRow | None:
    """(PublicLink, benchmark, expired)."""
    return session.execute(_WITH_BENCHMARK.where(PublicLink.id == link_id)).one_or_none()


def by_token_hash(session: Session, token_hash: str) -> AnyRow | None:
    """(PublicLink, benchmark, expired)."""
    return session.execute(_WITH_BENCHMARK.where(PublicLink.token_hash == token_hash)).one_or_none()
