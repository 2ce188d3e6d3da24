"""REST schemas of probes."""

from typing import Literal

from pydantic import Field

from backend.services.read_model import ReadModel


class ServiceHealth(ReadModel):
    """Whether the service can do its work."""

    status: Literal["ok", "degraded", "down"]
    version: str
    database: str = Field(examples=["ok"])
    broker: str = Field(examples=["ok"])
    workers: int = Field(default=0, description="Workers online.")


class Liveness(ReadModel):
    """The process responds."""

    status: Literal["alive"]


class Readiness(ReadModel):
    """Whether to send requests here."""

    status: Literal["ready", "draining", "database", "schema"]
    reason: str = Field(default="", description="Why not, in words.")
    version: str
