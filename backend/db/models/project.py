"""Projects: who owns benchmarks, agents and runs."""

from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id


class Project(Base):
    """A project; there is always the one called `default`."""

    __tablename__ = "project"

    id: Mapped[Id]
    name: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[Created]
