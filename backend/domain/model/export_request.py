"""Which trajectories to export as training data, and in which form."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from backend.domain.errors import Invalid
from backend.domain.model.task import Difficulty, Frozen
from backend.domain.model.trajectory_export import AgentKind, AttemptResult
from backend.domain.model.validation_words import problem_words

_FLOOR = re.compile(r"\s*([A-Za-z][\w:.-]{0,99})\s*>?=\s*([0-9.eE+-]{1,20})\s*")
Name = Annotated[str, Field(min_length=1, max_length=200)]


class MeasureMinimum(Frozen):
    """A measure must exist and be at least `least`."""

    name: str
    least: float = Field(allow_inf_nan=False)


def read_floor(value: Any) -> Any:
    """Parses `CR>=0.5` or `CR=0.5`; values other than text are left to pydantic. Raises ValueError."""
    if not isinstance(value, str):
        return value
    match = _FLOOR.fullmatch(value)
    if match is None:
        raise ValueError(f"expected NAME>=VALUE, for example CR>=0.5, not {value[:80]!r}")
    return {"name": match[1], "least": float(match[2])}


class Filters(Frozen):
    """Filters of an export; an empty list does not restrict.

    Attributes:
        results: results of episodes.
        kinds: kinds of agents.
        since, until: range of the episode's end, with time zone; `until` is exclusive.
        min_score: in [0, 1].
        measures: minimum values, which must all hold.
        open_licence: only benchmarks with a known open licence.
    """

    results: tuple[AttemptResult, ...] = (AttemptResult.SOLVED,)
    kinds: tuple[AgentKind, ...] = ()
    benchmarks: tuple[Name, ...] = ()
    domains: tuple[Name, ...] = ()
    levels: tuple[Name, ...] = ()
    difficulties: tuple[Difficulty, ...] = ()
    agents: tuple[Name, ...] = ()
    runs: tuple[UUID, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    min_score: float | None = Field(default=None, ge=0.0, le=1.0)
    measures: tuple[Annotated[MeasureMinimum, BeforeValidator(read_floor)], ...] = ()
    open_licence: bool = False

    @model_validator(mode="after")
    def _times_have_a_zone(self) -> Self:
        for at in (self.since, self.until):
            if at is not None and at.tzinfo is None:
                raise ValueError("a time needs its zone, for example 2026-11-01T00:00:00Z")
        return self


class ExportRequest(Frozen):
    """Content and format of an export.

    Attributes:
        form: a registered training form.
        format: file format of the rows.
        pictures: False: pictures are listed by hash, and downloaded separately.
        from_part: first part to send; earlier parts are counted but not sent.
    """

    filters: Filters = Filters()
    form: str = "steps"
    format: Literal["jsonl", "parquet"] = "jsonl"
    pictures: bool = True
    from_part: int = Field(default=0, ge=0)


def read_filters(values: Mapping[str, Any]) -> Filters:
    """Parses filters. Raises Invalid, which names the field."""
    try:
        return Filters.model_validate(dict(values))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise Invalid(problem_words(first), code="invalid_request", path=where) from error


def check_form(name: str, file_format: str, columns: Any) -> None:
    """Raises Invalid if a table is requested and the form has none."""
    if file_format == "parquet" and columns is None:
        hint = "Ask for jsonl, or for another form."
        raise Invalid(f"the form {name!r} has no table", code="invalid_request", path="format", hint=hint)
