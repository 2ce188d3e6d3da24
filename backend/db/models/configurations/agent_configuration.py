"""Agent configurations: who acts in a run."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, UniqueConstraint, func, text
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, Json, ref


class AgentConfiguration(Base):
    """Everything that says who acts: an agent with its parameters, spaces, image preparation and prompts.

    `name` and `params` are the agent's; `human`: a person acts. `definition` has all that `identity_hash` is of
    (`backend.services.configurations.definitions`); empty if a release before 2.0008 wrote the row. `title` is shown:
    `own_name` by a user, else `default_name`.
    """

    __tablename__ = "agent_configuration"
    __table_args__ = (UniqueConstraint("project_id", "name", "params_hash"),)

    id: Mapped[Id]
    project_id: Mapped[UUID] = mapped_column(ref("project"))
    name: Mapped[str]
    params: Mapped[Json] = mapped_column(default=dict)
    # Releases before 2.0008 hashed the parameters only.
    identity_hash: Mapped[str] = mapped_column("params_hash")
    definition: Mapped[Json] = mapped_column(default=dict, server_default=text("'{}'"))
    own_name: Mapped[str] = mapped_column(default="", server_default="")
    default_name: Mapped[str] = mapped_column(default="", server_default="")
    privileged: Mapped[bool] = mapped_column(default=False)
    human: Mapped[bool] = mapped_column(default=False, server_default=text("false"))
    created_at: Mapped[Created]
    deleted_at: Mapped[datetime | None]

    @hybrid_property
    def title(self) -> str:
        """The name that every page shows."""
        return self.own_name or self.default_name or self.name

    @title.inplace.expression
    @classmethod
    def _title_sql(cls) -> ColumnElement[str]:
        return func.coalesce(func.nullif(cls.own_name, ""), func.nullif(cls.default_name, ""), cls.name)
