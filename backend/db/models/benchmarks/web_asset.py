"""Files of the web that tasks need."""

from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, ref


class WebAsset(Base):
    """A web file: its bytes, or why there are none.

    Attributes:
        url: address as in task files.
        sha256: of its bytes, once downloaded or added; a later failed download does not remove them.
        source: origin of the bytes: the address after redirects, or `added` by a person.
        problem: problem at the last check; empty if none.
        checked_at: time of the last check.
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
