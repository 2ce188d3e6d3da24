"""Workers."""

from uuid import UUID

from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import enums
from backend.db.models.base import Base, Created, Id, Json, ref
from backend.db.types import one_of


class Worker(Base):
    """A worker process and its capabilities. `pid` is valid in `host`: machine and pid namespace."""

    __tablename__ = "worker"
    __table_args__ = (one_of("state", enums.WorkerState),)

    id: Mapped[Id]
    name: Mapped[str]
    node_id: Mapped[UUID] = mapped_column(ref("node"))
    pid: Mapped[int]
    host: Mapped[str] = mapped_column(index=True)
    version: Mapped[str]
    state: Mapped[str] = mapped_column(default=enums.WorkerState.ONLINE)
    capabilities: Mapped[Json] = mapped_column(default=dict)
    started_at: Mapped[Created]
    heartbeat_at: Mapped[Created]
