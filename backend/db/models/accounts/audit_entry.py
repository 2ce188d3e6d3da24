"""The audit log."""

from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, Json, ref


class AuditEntry(Base):
    """One act: who did what, from where, and what it changed. Entries are only added."""

    __tablename__ = "audit_entry"

    id: Mapped[Id]
    project_id: Mapped[UUID | None] = mapped_column(ref("project"), index=True)
    who: Mapped[str]
    # A verb with its object, such as `sign_in`, or the name of a route.
    action: Mapped[str]
    target: Mapped[str] = mapped_column(default="", server_default=text("''"))
    address: Mapped[str] = mapped_column(default="", server_default=text("''"))
    # By changed row and column: the value before and after.
    changes: Mapped[Json] = mapped_column(default=dict, server_default=text("'{}'"))
    created_at: Mapped[Created]
