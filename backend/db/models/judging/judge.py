"""Judges."""

from uuid import UUID

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import enums
from backend.db.models.base import Base, Created, Id, Json, ref
from backend.db.types import one_of


class Judge(Base):
    """A judge: a model with settings and prompt, or the evaluator of graphs.

    `config` is a `backend.domain.model.judge_config.JudgeConfig`, empty for graphs; `identity` is the hash of `config`
    and prompt.
    """

    __tablename__ = "judge"
    __table_args__ = (UniqueConstraint("project_id", "identity"), one_of("kind", enums.JudgeKind))

    id: Mapped[Id]
    project_id: Mapped[UUID] = mapped_column(ref("project"))
    kind: Mapped[str]
    endpoint: Mapped[str] = mapped_column(default="")
    model: Mapped[str] = mapped_column(default="")
    prompt_sha256: Mapped[str] = mapped_column(default="")
    config: Mapped[Json] = mapped_column(default=dict)
    identity: Mapped[str]
    created_at: Mapped[Created]
