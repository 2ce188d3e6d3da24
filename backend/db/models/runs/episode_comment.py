"""Comments by people on episodes."""

from uuid import UUID

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, ref


class EpisodeComment(Base):
    """One person's comment on an episode; `#step-12` in `text` mentions a step."""

    __tablename__ = "episode_comment"
    __table_args__ = (Index("ix_episode_comment_episode_id", "episode_id"),)

    id: Mapped[Id]
    episode_id: Mapped[UUID] = mapped_column(ref("episode"))
    actor_id: Mapped[UUID] = mapped_column(ref("actor"))
    text: Mapped[str]
    created_at: Mapped[Created]
