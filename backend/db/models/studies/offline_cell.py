"""Cells of offline studies."""

from uuid import UUID

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Id, Json, ref


class OfflineCell(Base):
    """One configuration of an offline study; the base cell is number 0.

    `levels` are those of its factors, `config` is the complete `backend.domain.model.run.RunConfig`.
    """

    __tablename__ = "offline_cell"
    __table_args__ = (UniqueConstraint("study_id", "number"),)

    id: Mapped[Id]
    study_id: Mapped[UUID] = mapped_column(ref("offline_study"))
    agent_configuration_id: Mapped[UUID] = mapped_column(ref("agent_configuration"))
    number: Mapped[int]
    levels: Mapped[Json] = mapped_column(default=dict)
    config: Mapped[Json]
