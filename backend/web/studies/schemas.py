"""The body of a request for a study."""

from typing import Any

from pydantic import Field, ValidationError

from backend.domain.errors import Invalid
from backend.domain.model.run import RunConfig
from backend.domain.model.validation_words import problem_words
from backend.domain.statistics.intervals import LEVEL, RESAMPLES
from backend.domain.studies.study import MOST_CELLS, MOST_FACTORS, Design, Factor, StudyConfig
from backend.services.capacity.scheduling_fields import SchedulingUpdate
from backend.web.api_common import RequestModel
from backend.web.runs.schemas import RunSubmit

EXAMPLE = {"image.scale": [1, 0.5], "perturbation": [None, "moved"]}
_OF_RUNS = {"name", "benchmark", "accepts_episodes", "without_episodes", *SchedulingUpdate.model_fields}
"""Fields of a run that its study does not compare."""


class StudySubmit(RequestModel):
    """A study to start: a base run, and the factors of its cells."""

    name: str = Field(default="", max_length=200, examples=["scale"])
    base: RunSubmit = Field(
        description="What all cells share; each run has its priority and limit. Its name is not used."
    )
    factors: dict[str, list[Any]] = Field(
        min_length=1,
        max_length=MOST_FACTORS,
        description=f"Levels by field of a run, the first one being the base cell's; {MOST_CELLS} cells at the most.",
        examples=[EXAMPLE],
    )
    design: Design = Field(default=Design.ONE_AT_A_TIME, description="One factor at a time, or every combination.")
    sample: float | None = Field(
        default=None, gt=0, le=1, description="A share of the chosen tasks, drawn from the base's seed.", examples=[0.1]
    )
    level: float = Field(default=LEVEL, ge=0.5, le=0.999, description="Confidence of intervals.")
    resamples: int = Field(default=RESAMPLES, ge=100, le=20_000, description="Without effect: intervals need no draws.")

    def config(self) -> StudyConfig:
        """The requested study. Raises Invalid."""
        settings = self.base.model_dump(mode="json", exclude_unset=True, exclude=_OF_RUNS)
        try:
            return StudyConfig(
                name=self.name,
                benchmark=self.base.benchmark,
                base=RunConfig.model_validate(settings),
                factors=tuple(Factor(name=name, levels=tuple(levels)) for name, levels in self.factors.items()),
                design=self.design,
                sample=self.sample,
                level=self.level,
                resamples=self.resamples,
            )
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise Invalid(problem_words(first), code="invalid_study", path=".".join(map(str, first["loc"]))) from error

    def tuning(self) -> SchedulingUpdate:
        """Initial scheduling settings of its runs."""
        return SchedulingUpdate.model_validate(
            self.base.model_dump(include=set(SchedulingUpdate.model_fields), exclude_unset=True)
        )
