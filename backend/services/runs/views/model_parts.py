"""Calls, failures, latency, tokens and cost of each model of a run whose agent uses several."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories.runs import model_parts as repository
from backend.domain.model.model_calls import CallFailure, ModelPart

_ORDER = list(ModelPart)
FAILURES = {
    CallFailure.INCOMPLETE: "incomplete",
    CallFailure.UNCLEAR: "unclear",
    CallFailure.NO_POINT: "no point",
    CallFailure.OFF_SCREEN: "off screen",
}


@dataclass(frozen=True)
class ModelPartRow:
    """One model in one part.

    Attributes:
        failures: words and number of each kind that occurred.
        median_seconds: until an answer, without waiting for the API.
        priced: every call has a price.
    """

    part: ModelPart
    endpoint: str
    model: str
    calls: int
    failures: list[tuple[str, int]]
    median_seconds: float
    input_tokens: int
    output_tokens: int
    usd: float
    priced: bool

    @property
    def failed(self) -> int:
        """Number of calls whose reply could not be used."""
        return sum(number for _, number in self.failures)


def model_part_rows(session: Session, run_id: UUID) -> Sequence[ModelPartRow]:
    """The rows of a run, planner first."""
    rows = [
        ModelPartRow(
            part=ModelPart(row.part),
            endpoint=row.endpoint,
            model=row.model,
            calls=row.calls,
            failures=[(words, number) for kind, words in FAILURES.items() if (number := getattr(row, kind))],
            median_seconds=row.median_seconds,
            input_tokens=int(row.input_tokens),
            output_tokens=int(row.output_tokens),
            usd=row.usd,
            priced=not row.unpriced,
        )
        for row in repository.model_parts(session, run_id)
    ]
    return sorted(rows, key=lambda row: _ORDER.index(row.part))
