"""Actors of requests."""

from uuid import UUID

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import enums
from backend.db.models.base import Base, Created, Id, ref
from backend.db.types import one_of


class Actor(Base):
    """A person or program that acts in a project."""

    __tablename__ = "actor"
    __table_args__ = (
        UniqueConstraint("project_id", "name"),
        # Lets another table require that its actors are people (`task_draft_review`).
        UniqueConstraint("id", "kind"),
        one_of("kind", enums.ActorKind),
    )

    id: Mapped[Id]
    project_id: Mapped[UUID] = mapped_column(ref("project"))
    name: Mapped[str]
    kind: Mapped[str] = mapped_column(default=enums.ActorKind.PERSON)
    created_at: Mapped[Created]
