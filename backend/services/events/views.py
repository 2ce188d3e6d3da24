"""View of an event."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from backend.services.read_model import ReadModel


class EventView(ReadModel):
    """One event of a run; `seq` counts from 1 without gaps."""

    seq: int
    kind: str = Field(examples=["episode_state"])
    run_id: UUID
    episode_id: UUID | None
    attempt_id: UUID | None
    data: dict[str, Any]
    created_at: datetime
