"""Bodies of requests about demonstrations and offline studies."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from pydantic import Field

from backend.domain.statistics.intervals import LEVEL
from backend.domain.studies.offline_study import FIELDS, OfflineStudyConfig
from backend.domain.studies.study import MOST_CELLS, MOST_FACTORS, Design
from backend.services.studies.demonstrations import NAME
from backend.services.studies.offline_studies import config_of
from backend.web.api_common import RequestModel


class SetFromRun(RequestModel):
    """A set of demonstrations to make of a run's trajectories."""

    name: str = Field(min_length=1, max_length=100, pattern=NAME, examples=["solved-starter"])
    run: UUID
    least_score: float = Field(default=1.0, ge=0, le=1, description="Episodes with this score or more are taken.")
    source: str = Field(default="", max_length=2000)


class OfflineStudySubmit(RequestModel):
    """An offline study to start."""

    name: str = Field(default="", max_length=200, examples=["history"])
    demonstrations: str = Field(min_length=1, max_length=100, description="Name of the set.", examples=["shop"])
    base: dict[str, Any] = Field(
        description=f"Who acts in all cells: {', '.join(FIELDS)} of a run, and seed.",
        examples=[{"agent": "prompt", "params": {"model": "gpt-5-mini"}}],
    )
    factors: dict[str, list[Any]] = Field(
        default={},
        max_length=MOST_FACTORS,
        description=f"Levels by field, the first one being the base cell's; {MOST_CELLS} cells at the most.",
        examples=[{"params.history": [3, 0]}],
    )
    design: Design = Field(default=Design.ONE_AT_A_TIME, description="One factor at a time, or every combination.")
    sample: float | None = Field(
        default=None, gt=0, le=1, description="A share of the demonstrations, drawn from the base's seed."
    )
    level: float = Field(default=LEVEL, ge=0.5, le=0.999, description="Confidence of intervals.")

    def config(self) -> OfflineStudyConfig:
        """The requested study. Raises Invalid."""
        values: Mapping[str, Any] = self.model_dump(exclude_unset=True)
        factors = [{"name": name, "levels": levels} for name, levels in self.factors.items()]
        return config_of({**values, "factors": factors})
