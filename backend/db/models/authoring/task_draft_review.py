"""Reviews of drafts."""

from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import enums
from backend.db.models.base import Base, Created, Id, ref
from backend.db.types import one_of
from backend.domain.drafts.states import RejectionReason


class TaskDraftReview(Base):
    """One person's review of one version of a draft. Programs cannot review: the key refuses it."""

    __tablename__ = "task_draft_review"
    __table_args__ = (
        one_of("verdict", enums.ReviewVerdict),
        one_of("rejection_reason", RejectionReason, optional=True),
        CheckConstraint("(verdict = 'reject') = (rejection_reason IS NOT NULL)", name="reason_when_rejected"),
        CheckConstraint("actor_kind = 'person'", name="reviewer_is_person"),
        ForeignKeyConstraint(["actor_id", "actor_kind"], ["actor.id", "actor.kind"], ondelete="RESTRICT"),
        UniqueConstraint("draft_id", "version", "actor_id"),
    )

    id: Mapped[Id]
    draft_id: Mapped[UUID] = mapped_column(ref("task_draft"))
    version: Mapped[int]
    actor_id: Mapped[UUID]
    actor_kind: Mapped[str] = mapped_column(default=enums.ActorKind.PERSON)
    verdict: Mapped[str]
    rejection_reason: Mapped[str | None]
    comment: Mapped[str] = mapped_column(default="")
    created_at: Mapped[Created]
