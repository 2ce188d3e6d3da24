"""Files that a task set's steps use."""

from uuid import UUID

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, ref


class TaskAsset(Base):
    """A file of a task set by the name that its steps use."""

    __tablename__ = "task_asset"

    task_set_id: Mapped[UUID] = mapped_column(ref("task_set"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    sha256: Mapped[str] = mapped_column(ForeignKey("artifact.sha256", ondelete="RESTRICT"), index=True)
