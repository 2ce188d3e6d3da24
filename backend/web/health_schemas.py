"""What probes are told."""

from typing import Literal

from pydantic import Field

from backend.web.runs.schemas import View


class Health(View):
    """Whether the service can do its work."""

    status: Literal["ok", "degraded", "down"]
    version: str
    database: str = Field(examples=["ok"])
    broker: str = Field(examples=["ok"])
    workers: int = Field(default=0, description="Workers online.")


class Liveness(View):
    """The process answers."""

    status: Literal["alive"]


class Readiness(View):
    """Whether requests are to be sent here."""

    status: Literal["ready", "draining", "database", "schema"]
    reason: str = Field(default="", description="Why not, in words.")
    version: str
