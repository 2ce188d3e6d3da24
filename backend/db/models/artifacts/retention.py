"""Retention rules and disk quota of a project."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, ref


class Retention(Base):
    """Rules of a project; a column without a value: no limit. `*_days`: age after which it is deleted.

    Screens (`screen_days`) are pictures, trees and prompts of steps; what a verdict needs stays. `stored_bytes` was
    counted at `stored_at`. `applied_at`: when workers last looked for what is old enough. `thinned_until`: steps before
    it have been thinned.
    """

    __tablename__ = "retention"
    __table_args__ = (
        CheckConstraint("run_days >= 1 AND draft_days >= 1 AND screen_days >= 1", name="days"),
        CheckConstraint("disk_quota_mib >= 0", name="disk_quota"),
    )

    project_id: Mapped[UUID] = mapped_column(ref("project"), primary_key=True)
    run_days: Mapped[int | None]
    draft_days: Mapped[int | None]
    screen_days: Mapped[int | None]
    disk_quota_mib: Mapped[int | None]
    stored_bytes: Mapped[int | None]
    stored_at: Mapped[datetime | None]
    applied_at: Mapped[datetime | None]
    thinned_until: Mapped[datetime | None]
