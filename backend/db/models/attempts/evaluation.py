"""Evaluations of an attempt."""

from uuid import UUID

from sqlalchemy import CheckConstraint, Computed, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, Json, JsonList, ref
from backend.domain.model.score import SOLVED_TOLERANCE

_PARTS, _REACHED = (
    f"jsonb_array_length(jsonb_path_query_array(parts, '$[*] ? (@.kind != \"assertion\"{more})'))"
    for more in ("", f" && @.value >= {1.0 - SOLVED_TOLERANCE}")
)


class Evaluation(Base):
    """One scoring of one attempt by one evaluator version; one of an attempt's evaluations is current.

    `spec` is what it checks: dialect, getters, options. `task_id` is the task with these checks, if it is not the
    episode's own. Without a `score` it is a submission, or there is no verdict: `failure` has the reason, and the
    evidence is kept for another evaluation. `parts` has the results of the task's parts
    (`backend.domain.model.score.PartResult`), `part_count` and `reached_part_count` count them without assertions.
    """

    __tablename__ = "evaluation"
    __table_args__ = (
        CheckConstraint("score BETWEEN 0 AND 1", name="score_range"),
        CheckConstraint("failure = '' OR (score IS NULL AND NOT current)", name="failure_has_no_score"),
        Index("uq_evaluation_current", "attempt_id", unique=True, postgresql_where=text("current")),
    )

    id: Mapped[Id]
    attempt_id: Mapped[UUID] = mapped_column(ref("attempt"), index=True)
    version: Mapped[str]
    score: Mapped[float | None]
    rule: Mapped[str] = mapped_column(default="")
    failure: Mapped[str] = mapped_column(default="", server_default=text("''"))
    metrics: Mapped[JsonList] = mapped_column(default=list)
    parts: Mapped[JsonList] = mapped_column(default=list, server_default=text("'[]'"))
    part_count: Mapped[int] = mapped_column(Computed(_PARTS, persisted=True))
    reached_part_count: Mapped[int] = mapped_column(Computed(_REACHED, persisted=True))
    spec: Mapped[Json] = mapped_column(default=dict, server_default=text("'{}'"))
    task_id: Mapped[UUID | None] = mapped_column(ref("task"))
    current: Mapped[bool] = mapped_column(default=True)
    seconds: Mapped[float] = mapped_column(default=0.0)
    created_at: Mapped[Created]
