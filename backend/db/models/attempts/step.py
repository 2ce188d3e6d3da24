"""Steps of an attempt."""

from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, Json, JsonList, ref


class Step(Base):
    """One observation with the agent's text, actions and their results; pictures, trees and prompts by hash.

    `frame_hash` is the perceptual hash of the screenshot, None for steps of releases before it and damaged pictures.
    `agent_view_sha256` is the picture shown to the agent, if it differs from the screenshot. `extras` has optional
    values: `by`, `model`, `reasoning`, `dropped`, `safety_checks`, `model_calls`, `marks`, `view`, `clipboard`,
    `terminal`, `tabs`, `note`, `code_failed`, `guest_calls`.
    """

    __tablename__ = "step"
    __table_args__ = (
        UniqueConstraint("attempt_id", "index"),
        Index("ix_step_frame", "frame_sha256"),
        Index("ix_step_a11y", "a11y_sha256"),
        Index("ix_step_agent_view", "agent_view_sha256"),
        Index("ix_step_prompt", "prompt_sha256"),
    )

    id: Mapped[Id]
    attempt_id: Mapped[UUID] = mapped_column(ref("attempt"))
    index: Mapped[int]
    frame_sha256: Mapped[str | None] = mapped_column(ForeignKey("artifact.sha256", ondelete="RESTRICT"))
    frame_media_type: Mapped[str | None]
    frame_hash: Mapped[int | None] = mapped_column(BigInteger)
    width: Mapped[int | None]
    height: Mapped[int | None]
    a11y_sha256: Mapped[str | None] = mapped_column(ForeignKey("artifact.sha256", ondelete="RESTRICT"))
    agent_view_sha256: Mapped[str | None] = mapped_column(ForeignKey("artifact.sha256", ondelete="RESTRICT"))
    prompt_sha256: Mapped[str | None] = mapped_column(ForeignKey("artifact.sha256", ondelete="RESTRICT"))
    windows: Mapped[JsonList] = mapped_column(default=list)
    explanation: Mapped[str] = mapped_column(default="")
    reply: Mapped[str] = mapped_column(default="")
    actions: Mapped[JsonList] = mapped_column(default=list)
    results: Mapped[JsonList] = mapped_column(default=list)
    invalid: Mapped[str] = mapped_column(default="")
    usage: Mapped[Json] = mapped_column(default=dict)
    timing: Mapped[Json] = mapped_column(default=dict)
    extras: Mapped[Json] = mapped_column(default=dict, server_default=text("'{}'"))
    created_at: Mapped[Created]
