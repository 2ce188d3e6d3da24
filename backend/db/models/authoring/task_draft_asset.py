"""Files of drafts."""

from uuid import UUID

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, ref


class TaskDraftAsset(Base):
    """Bytes uploaded for a draft; its versions refer to them. Kept as long as the draft."""

    __tablename__ = "task_draft_asset"

    draft_id: Mapped[UUID] = mapped_column(ref("task_draft"), primary_key=True)
    sha256: Mapped[str] = mapped_column(
        ForeignKey("artifact.sha256", ondelete="RESTRICT"), primary_key=True, index=True
    )
