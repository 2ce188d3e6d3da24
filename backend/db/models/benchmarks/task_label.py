"""Labels of tasks by people."""

from uuid import UUID

from sqlalchemy import UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, Json, ref
from backend.db.types import one_of
from backend.domain.model.task import Difficulty, DifficultySource


class TaskLabel(Base):
    """A task's difficulty, a person's time and further labels (name to texts), imported as CSV.

    Applies to every version of the benchmark's tasks.
    """

    __tablename__ = "task_label"
    __table_args__ = (
        UniqueConstraint("benchmark_id", "domain", "name"),
        one_of("difficulty", Difficulty, optional=True),
        one_of("difficulty_source", DifficultySource, optional=True),
    )

    id: Mapped[Id]
    benchmark_id: Mapped[UUID] = mapped_column(ref("benchmark"))
    domain: Mapped[str]
    name: Mapped[str]
    difficulty: Mapped[str | None]
    difficulty_source: Mapped[str | None]
    human_seconds: Mapped[float | None]
    human_steps: Mapped[int | None]
    labels: Mapped[Json] = mapped_column(default=dict, server_default=text("'{}'"))
    created_at: Mapped[Created]
