"""Drafts of own tasks."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, Index
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import enums
from backend.db.models.base import Base, Created, Id, ref
from backend.db.types import one_of
from backend.domain.drafts.states import NEEDED, DraftState, RejectionReason


class TaskDraft(Base):
    """A task in preparation, until it is approved and published.

    `version` and `content_hash` are of the newest `task_draft_version`; domain, name and instruction are copied from
    it for lists. `approvals` counts approvals of that version by people other than the author; the database refuses an
    approved draft without enough of them. `noop_justification` explains why doing nothing may score more than 0.
    `published_task_set_id` is the task set with the approved version.
    """

    __tablename__ = "task_draft"
    __table_args__ = (
        one_of("state", DraftState),
        one_of("rejection_reason", RejectionReason, optional=True),
        one_of("author_kind", enums.DraftAuthor),
        CheckConstraint("(state = 'rejected') = (rejection_reason IS NOT NULL)", name="reason_when_rejected"),
        CheckConstraint(f"state <> 'approved' OR approvals >= {NEEDED}", name="approved_by_people"),
        CheckConstraint("author_kind <> 'model' OR (model <> '' AND prompt_hash <> '')", name="model_is_named"),
        Index("ix_task_draft_list", "project_id", "state", "id"),
    )

    id: Mapped[Id]
    project_id: Mapped[UUID] = mapped_column(ref("project"))
    author_id: Mapped[UUID] = mapped_column(ref("actor"))
    benchmark: Mapped[str]
    state: Mapped[str] = mapped_column(default=DraftState.DRAFT)
    rejection_reason: Mapped[str | None]
    rejection_comment: Mapped[str] = mapped_column(default="")
    version: Mapped[int] = mapped_column(default=1)
    content_hash: Mapped[str]
    domain: Mapped[str]
    name: Mapped[str]
    instruction: Mapped[str] = mapped_column(default="")
    approvals: Mapped[int] = mapped_column(default=0)
    noop_justification: Mapped[str] = mapped_column(default="")
    author_kind: Mapped[str] = mapped_column(default=enums.DraftAuthor.PERSON)
    model: Mapped[str] = mapped_column(default="")
    prompt_hash: Mapped[str] = mapped_column(default="")
    persona: Mapped[str] = mapped_column(default="")
    published_task_set_id: Mapped[UUID | None] = mapped_column(ref("task_set"))
    created_at: Mapped[Created]
    updated_at: Mapped[datetime]
    deleted_at: Mapped[datetime | None]

    @property
    def key(self) -> str:
        """`domain/name`, as pages and selections write it."""
        return f"{self.domain}/{self.name}"
