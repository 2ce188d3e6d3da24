"""Tasks of a task set."""

from uuid import UUID

from sqlalchemy import Computed, Index, UniqueConstraint, false, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Id, Json, JsonList, ref
from backend.db.types import one_of
from backend.domain.model.task import Difficulty, DifficultySource
from backend.domain.omnibench.expression import DIALECT, FUNCTION

_NEEDS = "CAST(md5(os || chr(10) || CAST(requires AS text) || chr(10) || CAST(licences AS text)) AS uuid)"
_CALLS = f'$.evaluator ? (@.calls[*].func == "{FUNCTION}" || @.parts[*].calls[*].func == "{FUNCTION}")'
_FUNCTIONS = f"dialect = '{DIALECT}' AND jsonb_path_exists(spec, '{_CALLS}')"


class Task(Base):
    """One task. `spec` is the whole domain object; the other columns are for filters and counts.

    `labels`: all labels, flat: name to texts (`backend.domain.benchmarks.labels_of`, and those of a CSV file).
    `requires_judge`: a model decides a part of it, so runs need a judge. `requirements_id` is equal for tasks with
        equal requirements: system, programs, licences. `has_user_functions` is derived from `spec`: it has evaluation
        functions in Python, so its worker needs a sandbox for them.
    """

    __tablename__ = "task"
    __table_args__ = (
        UniqueConstraint("task_set_id", "domain", "name"),
        one_of("difficulty", Difficulty, optional=True),
        one_of("difficulty_source", DifficultySource, optional=True),
        one_of("os", ("linux", "windows")),
        Index("ix_task_human_steps", "task_set_id", postgresql_where=text("human_steps > 0")),
        Index(
            "ix_task_group",
            "task_set_id",
            "domain",
            "requirements_id",
            "difficulty",
            "requires_judge",
            "has_user_functions",
            postgresql_include=["id"],
        ),
        Index("ix_task_licensed", "id", postgresql_where=text("licences <> '{}'::jsonb")),
    )

    id: Mapped[Id]
    task_set_id: Mapped[UUID] = mapped_column(ref("task_set"))
    domain: Mapped[str]
    name: Mapped[str]
    dialect: Mapped[str] = mapped_column()
    instruction: Mapped[str]
    spec: Mapped[Json] = mapped_column()
    content_hash: Mapped[str]
    difficulty: Mapped[str | None]
    difficulty_source: Mapped[str | None]
    level: Mapped[str | None]
    os: Mapped[str] = mapped_column(default="linux")
    feasible: Mapped[bool] = mapped_column(default=True)
    requires_judge: Mapped[bool] = mapped_column(default=False, server_default=false())
    apps: Mapped[JsonList] = mapped_column(default=list)
    labels: Mapped[Json] = mapped_column(default=dict, server_default=text("'{}'"))
    requires: Mapped[JsonList] = mapped_column(default=list)
    licences: Mapped[Json] = mapped_column(default=dict, server_default=text("'{}'"))
    human_seconds: Mapped[float | None]
    human_steps: Mapped[int | None]
    requirements_id: Mapped[UUID | None] = mapped_column(Computed(_NEEDS, persisted=True))
    has_user_functions: Mapped[bool] = mapped_column(Computed(_FUNCTIONS, persisted=True))

    @property
    def key(self) -> str:
        """`domain/name`, as pages and selections write it."""
        return f"{self.domain}/{self.name}"
