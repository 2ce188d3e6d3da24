"""Offline studies."""

from uuid import UUID

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, Json, ref


class OfflineStudy(Base):
    """Configurations of agents, asked at every step of a set of demonstrations.

    `config` is a `backend.domain.studies.offline_study.OfflineStudyConfig`.
    """

    __tablename__ = "offline_study"
    __table_args__ = (UniqueConstraint("project_id", "idempotency_key"),)

    id: Mapped[Id]
    project_id: Mapped[UUID] = mapped_column(ref("project"))
    actor_id: Mapped[UUID] = mapped_column(ref("actor"))
    set_id: Mapped[UUID] = mapped_column(ref("demonstration_set"))
    name: Mapped[str]
    config: Mapped[Json]
    idempotency_key: Mapped[str | None]
    request_hash: Mapped[str]
    created_at: Mapped[Created]
