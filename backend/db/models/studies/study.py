"""Studies."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, Json, ref


class Study(Base):
    """A grid of conditions over one base configuration, one run per cell; see `backend.domain.studies.study`.

    `config` is the `StudyConfig`, its base with the chosen tasks where they are a sample.
    """

    __tablename__ = "study"
    __table_args__ = (UniqueConstraint("project_id", "idempotency_key"),)

    id: Mapped[Id]
    project_id: Mapped[UUID] = mapped_column(ref("project"))
    actor_id: Mapped[UUID] = mapped_column(ref("actor"))
    name: Mapped[str]
    config: Mapped[Json]
    idempotency_key: Mapped[str | None]
    request_hash: Mapped[str]
    created_at: Mapped[Created]
    deleted_at: Mapped[datetime | None]
