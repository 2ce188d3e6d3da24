"""The verdict on two presentations."""

from collections.abc import Mapping
from itertools import islice
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.evaluators.metrics.slides._compare.decks import differences
from backend.domain.evaluators.metrics.slides._compare.options import CompareMode, CompareSlidesOptions
from backend.domain.formats.slides_reader import read_deck
from backend.domain.model.score import MetricValue

_MOST = 20


def compare(result: str | None, expected: str | None, settings: Mapping[str, Any], manner: CompareMode) -> MetricValue:
    """1 if no examined aspect differs, else 0 with the first differences.

    Raises:
        EvaluatorFailed: the expected deck cannot be read, or an option is invalid.
    """
    options = CompareSlidesOptions.parse(settings, manner)
    model, reason = read_deck(expected, as_stored=manner.strict)
    if model is None:
        raise EvaluatorFailed(f"expected presentation: {reason}", code="invalid_reference")
    deck, reason = read_deck(result, as_stored=manner.strict)
    if deck is None:
        return verdict(met=False, reason=reason)
    reasons = tuple(islice(dict.fromkeys(differences(deck, model, options)), _MOST))
    return MetricValue(value=float(not reasons), reasons=reasons or (f"{len(deck.slides)} slides, all as expected",))
