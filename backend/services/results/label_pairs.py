"""Pairs of labels that readers asked for: workers cut every cube of the benchmark's runs by them."""

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.repositories.benchmarks import benchmark_parts
from backend.db.repositories.results import label_pairs as repository
from backend.domain.errors import Conflict, Invalid, NotFound
from backend.domain.model.label_pair import MOST_CELLS, LabelPair
from backend.services.benchmarks.benchmarks import get_benchmark
from backend.services.benchmarks.labels import label_counts
from backend.services.read_model import ReadModel
from backend.services.results.leaderboards import board_version

MOST_PAIRS = 10
"""Pairs of one benchmark: each costs every roll-up of its runs."""


class LabelPairView(ReadModel):
    """Two labels by which results are cut together."""

    label: str = Field(examples=["level"])
    by: str = Field(examples=["persona"])


def list_pairs(session: Session, benchmark: str) -> list[LabelPairView]:
    """The pairs of a benchmark. Raises NotFound."""
    pairs = repository.of_benchmark(session, get_benchmark(session, benchmark).id)
    return [LabelPairView(label=pair.first, by=pair.second) for pair in pairs]


def keep_pair(session: Session, benchmark: str, label: str, by: str) -> LabelPairView:
    """Has workers compute the roll-ups of two labels from now on, and for all runs that there are. Safe to repeat.

    Raises:
        NotFound: there is no such benchmark, or its tasks do not have these labels.
        Invalid: the labels are one, or have too many values.
        Conflict: the benchmark has as many pairs as it may have.
    """
    row, labels = get_benchmark(session, benchmark), label_counts(board_version(session, benchmark, None))
    pair = checked_pair(labels, label, by)
    pairs = repository.of_benchmark(session, row.id)
    if pair not in pairs and len(pairs) >= MOST_PAIRS:
        raise Conflict(
            f"{benchmark} has {MOST_PAIRS} pairs of labels", code="too_many_label_pairs", hint="Remove one of them."
        )
    if repository.add(session, row.id, pair):
        benchmark_parts.mark_stale(session, row.id)
    return LabelPairView(label=pair.first, by=pair.second)


def remove_pair(session: Session, benchmark: str, label: str, by: str) -> None:
    """Has workers compute these roll-ups no more, and remove them. Safe to repeat. Raises NotFound: no benchmark."""
    row = get_benchmark(session, benchmark)
    if repository.remove(session, row.id, LabelPair.sorted_pair(label, by)):
        benchmark_parts.mark_stale(session, row.id)


def checked_pair(labels: dict[str, dict[str, int]], label: str, by: str) -> LabelPair:
    """The pair. Raises as `keep_pair`."""
    for name in (label, by):
        if name not in labels:
            raise NotFound(
                f"the tasks have no label {name!r}", code="label_not_found", hint=f"Their labels: {', '.join(labels)}."
            )
    if label == by:
        raise Invalid("two different labels are needed", code="invalid_label_pair", path="by")
    if (cells := len(labels[label]) * len(labels[by])) > MOST_CELLS:
        raise Invalid(
            f"{label} by {by} has {cells} cells, more than {MOST_CELLS}",
            code="invalid_label_pair",
            path="by",
            hint="Choose a label with fewer values.",
        )
    return LabelPair.sorted_pair(label, by)
