"""Comments by people on episodes, which mention steps as `#step-12`."""

from datetime import datetime
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.models import EpisodeComment, Project
from backend.db.repositories.runs import episode_comments as repository
from backend.domain.errors import Conflict, Invalid, NotFound
from backend.services.accounts import projects
from backend.services.read_model import ReadModel
from backend.services.runs.episodes import get_episode

MOST = 200
"""Maximum comments on an episode."""
LONGEST = 2000
"""Maximum characters of a comment."""


class Comment(ReadModel):
    """One comment on an episode."""

    id: UUID
    person: str = Field(description="Name of the person who wrote it.", examples=["anna"])
    text: str = Field(description="`#step-12` mentions a step.", examples=["opened the wrong folder at #step-3"])
    created_at: datetime


def comments(session: Session, episode_id: UUID) -> list[Comment]:
    """All comments on an episode, oldest first. Raises NotFound."""
    get_episode(session, episode_id)
    return [_view(row, name) for row, name in repository.of_episode(session, episode_id)]


def add(session: Session, project: Project, episode_id: UUID, *, person: str, text: str) -> Comment:
    """Stores a comment.

    Args:
        session: the transaction.
        project: the person's project.
        episode_id: any episode.
        person: a name, which identifies the person; ignored where people sign in.
        text: 1 to 2,000 characters.

    Raises:
        NotFound: There is no such episode.
        Invalid: the text is empty or too long, or the name is not valid.
        Conflict: The episode has as many comments as it may have.
    """
    get_episode(session, episode_id)
    text = text.strip()
    if not 0 < len(text) <= LONGEST:
        raise Invalid(f"expected a comment of 1 to {LONGEST:,} characters", code="invalid_comment", path="text")
    if repository.count(session, episode_id) >= MOST:
        raise Conflict(
            f"the episode has {MOST} comments",
            code="too_many_comments",
            hint="Delete one of yours before you write another.",
        )
    who = projects.person(session, project, person)
    row = EpisodeComment(episode_id=episode_id, actor_id=who.id, text=text)
    session.add(row)
    session.flush()  # Its id and time are returned.
    return _view(row, who.name)


def delete(session: Session, project: Project, episode_id: UUID, comment_id: UUID, *, person: str) -> None:
    """Deletes a person's own comment.

    Raises:
        NotFound: There is no such comment of that person on this episode.
        Invalid: the name is not valid.
    """
    who = projects.person(session, project, person)
    comment = repository.own(session, episode_id, comment_id, who.id)
    if comment is None:
        raise NotFound(
            "you have no comment with this id", code="comment_not_found", hint="You can delete only your own comments."
        )
    session.delete(comment)


def _view(row: EpisodeComment, person: str) -> Comment:
    return Comment(id=row.id, person=person, text=row.text, created_at=row.created_at)
