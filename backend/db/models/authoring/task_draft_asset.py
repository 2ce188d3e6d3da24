"""Files of drafts."""

from uuid import UUID

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, ref


class TaskDraftAsset(Base):
    """Bytes that were uploaded for a draft; its versions name them. Kept as long as the draft is."""

    __tablename__ = "task_draft_asset"

    draft_id: Mapped[UUID] = mapped_column(ref("task_draft"), primary_key=True)
    sha256: Mapped[str] = mapped_column(
        ForeignKey("artifact.sha256", ondelete="RESTRICT"), primary_key=True, index=True
    )
