"""Results that papers and leaderboards elsewhere report."""

from uuid import UUID

from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, ref


class ReportedResult(Base):
    """A published number, shown beside ours and marked as such; never mixed into a count."""

    __tablename__ = "reported_result"

    id: Mapped[Id]
    benchmark_id: Mapped[UUID] = mapped_column(ref("benchmark"), index=True)
    source: Mapped[str]
    agent: Mapped[str]
    model: Mapped[str] = mapped_column(default="")
    observation: Mapped[str] = mapped_column(default="")
    domain: Mapped[str | None]
    difficulty: Mapped[str | None]
    measure: Mapped[str]
    value: Mapped[float]
    n: Mapped[int | None]
    note: Mapped[str] = mapped_column(default="")
    reported_on: Mapped[str] = mapped_column(default="")
    created_at: Mapped[Created]
