"""Offline studies: configurations of agents compared on demonstrations, each asked at every recorded step."""

from collections.abc import Sequence

from pydantic import Field

from backend.domain.errors import Invalid
from backend.domain.studies.study import MOST_CELLS, MOST_FACTORS, DesignCell, Factor, StudyConfig, cells

FIELDS = ("agent", "params", "observation", "observation_params", "action_space", "action_params", "image")
"""Fields of a run that say who acts: all that differs where nothing is carried out."""
_BASE = {*FIELDS, "seed"}


class OfflineStudyConfig(StudyConfig):
    """Configuration of an offline study.

    Attributes:
        demonstrations: name of the set.
        benchmark: without meaning here.
        factors: fields of `FIELDS` that differ between cells; none = one cell.
        sample: a share of the demonstrations, drawn from `base.seed`; None = all of them.
    """

    benchmark: str = ""
    demonstrations: str = Field(min_length=1, max_length=100)
    factors: tuple[Factor, ...] = Field(default=(), max_length=MOST_FACTORS)


def offline_cells(study: OfflineStudyConfig) -> Sequence[DesignCell]:
    """All cells, the base cell first.

    Raises:
        Invalid: as `cells`; or a field has to do with desktops, of which there are none.
    """
    for name in study.base.model_fields_set - _BASE:
        raise Invalid(
            "there is no desktop in an offline study, so this field has no meaning",
            code="invalid_study",
            path=f"base.{name}",
            hint=f"It has {', '.join(sorted(_BASE))}.",
        )
    for factor in study.factors:
        if factor.name.split(".")[0] not in FIELDS:
            raise Invalid(
                "there is no desktop in an offline study, so this cannot differ",
                code="invalid_study",
                path=f"factors.{factor.name}",
                hint=f"What can: {', '.join(FIELDS)}.",
            )
    if study.cell_count > MOST_CELLS:
        raise Invalid(f"more than {MOST_CELLS} cells", code="study_too_large", path="factors")
    return cells(study)
