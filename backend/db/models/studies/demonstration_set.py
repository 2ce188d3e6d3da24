"""Sets of demonstrations."""

from uuid import UUID

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, ref
from backend.db.types import one_of
from backend.domain.model.demonstration import SetForm


class DemonstrationSet(Base):
    """A set of demonstrations, as it was imported or taken from a run; it never changes.

    `source`: where it is from and under which licence. `content_hash`: SHA-256 of its demonstrations.
    """

    __tablename__ = "demonstration_set"
    __table_args__ = (one_of("form", SetForm), UniqueConstraint("project_id", "name"))

    id: Mapped[Id]
    project_id: Mapped[UUID] = mapped_column(ref("project"))
    actor_id: Mapped[UUID] = mapped_column(ref("actor"))
    name: Mapped[str]
    form: Mapped[str]
    source: Mapped[str] = mapped_column(default="")
    content_hash: Mapped[str]
    created_at: Mapped[Created]
