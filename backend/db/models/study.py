"""Studies."""

from uuid import UUID

from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, Json, ref


class Study(Base):
    """A grid of conditions over one base configuration, one run per cell; see `backend.domain.study`."""

    __tablename__ = "study"

    id: Mapped[Id]
    project_id: Mapped[UUID] = mapped_column(ref("project"))
    actor_id: Mapped[UUID] = mapped_column(ref("actor"))
    name: Mapped[str]
    config: Mapped[Json]
    created_at: Mapped[Created]
