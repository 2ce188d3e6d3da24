"""Budgets of projects."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, ref
from backend.db.types import one_of

PERIODS = ("month", "total")


class ProjectBudget(Base):
    """Limits of a project in each calendar month (UTC) or in all; a column without a value: no limit.

    `spent_*` was counted at `counted_at`, since `since`; it never falls within a period, even if runs are deleted.
    `reached`: which limit is reached and how, empty if none is.
    """

    __tablename__ = "project_budget"
    __table_args__ = (
        one_of("period", PERIODS),
        CheckConstraint("usd >= 0 AND tokens >= 0 AND desktop_hours >= 0", name="limits"),
    )

    project_id: Mapped[UUID] = mapped_column(ref("project"), primary_key=True)
    period: Mapped[str] = mapped_column(primary_key=True)
    usd: Mapped[float | None]
    tokens: Mapped[int | None]
    desktop_hours: Mapped[float | None]
    spent_usd: Mapped[float] = mapped_column(default=0.0, server_default=text("0"))
    spent_tokens: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    spent_desktop_hours: Mapped[float] = mapped_column(default=0.0, server_default=text("0"))
    since: Mapped[datetime | None]
    counted_at: Mapped[datetime | None]
    reached: Mapped[str] = mapped_column(default="", server_default=text("''"))
