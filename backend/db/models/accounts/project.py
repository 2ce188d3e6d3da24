"""Projects: owners of benchmarks, agents and runs."""

from sqlalchemy import CheckConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, Json


class Project(Base):
    """A project; the one called `default` always exists.

    For the scheduler (`domain.scheduling.projects`): its `weight` among projects, its `quota` of parallel desktops by
    provider (`all` = together), and the slots `reserved` for its interactive episodes by provider.
    """

    __tablename__ = "project"
    __table_args__ = (CheckConstraint("weight > 0", name="weight"),)

    id: Mapped[Id]
    name: Mapped[str] = mapped_column(unique=True)
    weight: Mapped[float] = mapped_column(default=1.0, server_default=text("1"))
    quota: Mapped[Json] = mapped_column(default=dict, server_default=text("'{}'"))
    reserved: Mapped[Json] = mapped_column(default=dict, server_default=text("'{}'"))
    created_at: Mapped[Created]
