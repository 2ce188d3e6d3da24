"""Deletions."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import enums
from backend.db.models.base import Base, Created, Id, Json, ref
from backend.db.types import one_of


class Deletion(Base):
    """A row that is deleted with what hangs on it: marked at once, removed in the background by workers.

    `target_id` is the row's id, `name` what it was called. `requested_by` asked for it. `removed` has the number of
    removed rows by table. The entry stays when everything else is gone.
    """

    __tablename__ = "deletion"
    __table_args__ = (
        one_of("kind", enums.DeletionKind),
        UniqueConstraint("kind", "target_id"),
        Index("ix_deletion_project_id", "project_id", "id"),
        Index("ix_deletion_unfinished", "id", postgresql_where=text("finished_at IS NULL")),
    )

    id: Mapped[Id]
    project_id: Mapped[UUID] = mapped_column(ref("project"))
    kind: Mapped[str]
    target_id: Mapped[UUID]
    name: Mapped[str]
    requested_by: Mapped[str]
    removed: Mapped[Json] = mapped_column(default=dict, server_default=text("'{}'"))
    created_at: Mapped[Created]
    finished_at: Mapped[datetime | None]
