"""Agent configurations."""

from uuid import UUID

from sqlalchemy import UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, Json, ref


class AgentConfiguration(Base):
    """An agent with its parameters, as runs pin it. `human`: a person acts."""

    __tablename__ = "agent_configuration"
    __table_args__ = (UniqueConstraint("project_id", "name", "params_hash"),)

    id: Mapped[Id]
    project_id: Mapped[UUID] = mapped_column(ref("project"))
    name: Mapped[str]
    params: Mapped[Json] = mapped_column(default=dict)
    params_hash: Mapped[str]
    privileged: Mapped[bool] = mapped_column(default=False)
    human: Mapped[bool] = mapped_column(default=False, server_default=text("false"))
    created_at: Mapped[Created]
