"""Published results from papers and other leaderboards."""

from uuid import UUID

from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, ref


class PublishedResult(Base):
    """A published figure, shown beside measurements and marked; never included in counts.

    `value` has the digits and the `unit` of the source (a percentage is 19.5). `group_kind` and `group_name` identify
    the part of the benchmark in the source's words (`overall`, `category` Office, ...); `domain` is set if that part is
    a domain or a group of domains.
    """

    __tablename__ = "published_result"

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
    unit: Mapped[str] = mapped_column(default="", server_default="")
    group_kind: Mapped[str] = mapped_column(default="", server_default="")
    group_name: Mapped[str] = mapped_column(default="", server_default="")
    n: Mapped[int | None]
    note: Mapped[str] = mapped_column(default="")
    reported_on: Mapped[str] = mapped_column(default="")
    created_at: Mapped[Created]
