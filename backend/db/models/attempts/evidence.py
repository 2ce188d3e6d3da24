"""Evidence of an evaluation."""

from uuid import UUID

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import enums
from backend.db.models.base import Base, ref
from backend.db.types import one_of


class Evidence(Base):
    """A blob that a getter collected for one metric call; without a hash it was absent, and `note` has the reason.

    `position` is the metric call's place in the task, `part` the blob's place among those of one getter.
    """

    __tablename__ = "evidence"
    __table_args__ = (one_of("role", enums.EvidenceRole), Index("ix_evidence_sha256", "sha256"))

    evaluation_id: Mapped[UUID] = mapped_column(ref("evaluation"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    role: Mapped[str] = mapped_column(primary_key=True)
    part: Mapped[int] = mapped_column(primary_key=True, default=0)
    getter: Mapped[str]
    blob_name: Mapped[str]
    sha256: Mapped[str | None] = mapped_column(ForeignKey("artifact.sha256", ondelete="RESTRICT"))
    note: Mapped[str] = mapped_column(default="")
