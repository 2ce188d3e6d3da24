"""A reader's choices on a board: the query of its address, as text, as stored and checked."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import parse_qs, urlencode
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from backend.domain.errors import Invalid
from backend.domain.model.validation_words import problem_words
from backend.services.results.conditions import KEY_LENGTH
from backend.services.results.leaderboards import BoardOptions

LONGEST_WORD = 100


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("expected printable characters")
    return text


Word = Annotated[str, Field(max_length=LONGEST_WORD), AfterValidator(_printable)]


class BoardQuery(BaseModel):
    """The query of a board's address. Keys that it does not know are ignored.

    Attributes:
        version: of the task set; None = the newest with runs.
        conditions: key of the conditions of ranked rows; None = those with most ranked rows.
        common: rank on the tasks that all rows share.
        configuration: rank these only; empty = all.
        imported: rank imported results, too.
        unknown: of these, also those whose step budget or screen is not known.
        sort: column; None = by rank.
        column: columns that are shown; empty = the usual ones.
        measure: of the breakdowns; None = the primary one.
        cost: what scores are drawn against.
    """

    model_config = ConfigDict(frozen=True)

    version: int | None = Field(default=None, ge=1, le=2**31)
    conditions: Annotated[str, Field(max_length=KEY_LENGTH), AfterValidator(_printable)] | None = None
    common: bool = False
    configuration: list[UUID] = Field(default=[], max_length=100)
    imported: bool = False
    unknown: bool = False
    sort: Word | None = None
    column: list[Word] = Field(default=[], max_length=100)
    measure: Word | None = None
    cost: Literal["steps", "seconds", "whole", "tokens", "usd", "nodes"] = "steps"

    @property
    def options(self) -> BoardOptions:
        """Options that decide which rows are ranked."""
        return BoardOptions(self.conditions, self.common, self.configuration, self.imported, self.unknown)

    @property
    def stored(self) -> dict[str, Any]:
        """JSON of what differs from a board's defaults."""
        return self.model_dump(mode="json", exclude_defaults=True)

    @property
    def text(self) -> str:
        """The query of an address, without a question mark."""
        values = {name: "true" if value is True else value for name, value in self.stored.items()}
        return urlencode(values, doseq=True)


LISTS = frozenset({"configuration", "column"})


def query_of_text(text: str) -> dict[str, Any]:
    """The values of an address's query, by name; those of `LISTS` as lists, of others the last one."""
    values = parse_qs(text, max_num_fields=300)
    return {name: texts if name in LISTS else texts[-1] for name, texts in values.items()}


def checked_query(values: Mapping[str, Any]) -> BoardQuery:
    """The query of these values. Raises Invalid: a key that boards do not know, or a value that it cannot have."""
    unknown = sorted(set(values) - set(BoardQuery.model_fields))
    if unknown:
        raise Invalid(
            f"boards have no {', '.join(map(repr, unknown))}",
            code="invalid_view",
            path=f"query.{unknown[0]}",
            hint=f"Known: {', '.join(BoardQuery.model_fields)}.",
        )
    try:
        return BoardQuery.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        raise Invalid(problem_words(first), code="invalid_view", path=f"query.{first['loc'][0]}") from None


def stored_query(values: Mapping[str, Any]) -> tuple[BoardQuery, list[str]]:
    """A stored query, maybe of another release, and the names of the parts that this one cannot use."""
    ignored = {name for name in values if name not in BoardQuery.model_fields}
    try:
        query = BoardQuery.model_validate(dict(values))
    except ValidationError as error:
        ignored |= {str(problem["loc"][0]) for problem in error.errors()}
        query = BoardQuery.model_validate({name: value for name, value in values.items() if name not in ignored})
    return query, sorted(ignored)
