"""Artifacts: metadata of stored bytes."""

from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created


class Artifact(Base):
    """Bytes in the artifact store. `last_stored_at`: time of the last store; garbage collection uses it."""

    __tablename__ = "artifact"

    sha256: Mapped[str] = mapped_column(primary_key=True)
    size: Mapped[int]
    media_type: Mapped[str]
    created_at: Mapped[Created]
    last_stored_at: Mapped[Created]
