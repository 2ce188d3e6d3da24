"""Files of the web that tasks need."""

from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, ref


class WebAsset(Base):
    """A web file: its bytes, or why there are none.

    Attributes:
        url: as task files write it.
        sha256: of its bytes, once downloaded or added; a later failed download does not remove them.
        source: where they came from: the address after redirects, or `added` by a person.
        problem: what the last look found wrong; empty if nothing.
        checked_at: when that was.
    """

    __tablename__ = "web_asset"
    __table_args__ = (
        CheckConstraint("length(url) <= 2000", name="url"),
        CheckConstraint("sha256 IS NOT NULL OR problem <> ''", name="bytes_or_problem"),
    )

    project_id: Mapped[UUID] = mapped_column(ref("project"), primary_key=True)
    url: Mapped[str] = mapped_column(primary_key=True)
    sha256: Mapped[str | None] = mapped_column(ForeignKey("artifact.sha256", ondelete="RESTRICT"), index=True)
    source: Mapped[str]
    problem: Mapped[str]
    checked_at: Mapped[Created]
