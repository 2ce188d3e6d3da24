"""Steps of demonstrations."""

from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Id, Json, ref


class DemonstrationStepRecord(Base):
    """One step: what was seen, and what is right (`reference`, a `backend.domain.model.demonstration.Reference`).

    `reply` is the verbatim reply of the recorded agent in `action_space`; empty if there is none. `words`: what was
    thought or said.
    """

    __tablename__ = "demonstration_step"
    __table_args__ = (
        UniqueConstraint("demonstration_id", "index"),
        Index("ix_demonstration_step_frame", "frame_sha256"),
        Index("ix_demonstration_step_tree", "tree_sha256"),
    )

    id: Mapped[Id]
    demonstration_id: Mapped[UUID] = mapped_column(ref("demonstration"))
    index: Mapped[int]
    frame_sha256: Mapped[str] = mapped_column(ForeignKey("artifact.sha256", ondelete="RESTRICT"))
    frame_media_type: Mapped[str]
    width: Mapped[int]
    height: Mapped[int]
    tree_sha256: Mapped[str | None] = mapped_column(ForeignKey("artifact.sha256", ondelete="RESTRICT"))
    reference: Mapped[Json]
    words: Mapped[str] = mapped_column(default="")
    reply: Mapped[str] = mapped_column(default="")
    action_space: Mapped[str] = mapped_column(default="")
