"""What probes are told."""

from typing import Literal

from pydantic import Field

from backend.web.runs.schemas import ResponseModel


class ServiceHealth(ResponseModel):
    """Whether the service can do its work."""

    status: Literal["ok", "degraded", "down"]
    version: str
    database: str = Field(examples=["ok"])
    broker: str = Field(examples=["ok"])
    workers: int = Field(default=0, description="Workers online.")


class Liveness(ResponseModel):
    """The process answers."""

    status: Literal["alive"]


class Readiness(ResponseModel):
    """Whether requests are to be sent here."""

    status: Literal["ready", "draining", "database", "schema"]
    reason: str = Field(default="", description="Why not, in words.")
    version: str
