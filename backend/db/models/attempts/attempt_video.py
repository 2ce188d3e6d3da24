"""Videos of attempts."""

from uuid import UUID

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, ref


class AttemptVideo(Base):
    """The MP4 of an ended attempt, made on request."""

    __tablename__ = "attempt_video"
    __table_args__ = (Index("ix_attempt_video_sha256", "sha256"),)

    attempt_id: Mapped[UUID] = mapped_column(ref("attempt"), primary_key=True)
    sha256: Mapped[str] = mapped_column(ForeignKey("artifact.sha256", ondelete="RESTRICT"))
    created_at: Mapped[Created]
