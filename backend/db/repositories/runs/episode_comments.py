"""Comments on episodes."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.db.models import Actor, EpisodeComment
from backend.db.repositories.common_queries import AnyRow


def of_episode(session: Session, episode_id: UUID) -> Sequence[AnyRow]:
    """(EpisodeComment, name of the person), oldest first."""
    query = select(EpisodeComment, Actor.name).join(Actor, Actor.id == EpisodeComment.actor_id)
    return session.execute(query.where(EpisodeComment.episode_id == episode_id).order_by(EpisodeComment.id)).all()


def count(session: Session, episode_id: UUID) -> int:
    """How many there are."""
    query = select(func.count()).select_from(EpisodeComment).where(EpisodeComment.episode_id == episode_id)
    return session.scalar(query) or 0


def own(session: Session, episode_id: UUID, comment_id: UUID, actor_id: UUID) -> EpisodeComment | None:
    """That comment of that person on that episode."""
    query = select(EpisodeComment).where(EpisodeComment.id == comment_id, EpisodeComment.episode_id == episode_id)
    return session.scalar(query.where(EpisodeComment.actor_id == actor_id))
