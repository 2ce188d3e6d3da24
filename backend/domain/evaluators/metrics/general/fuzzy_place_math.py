"""`fuzzy_place_math`: a document lists three of some places."""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, rule, texts
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats import documents
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

PLACES = 3
"""Upstream requires three, whatever the rule lists."""
MAX_WORD = 10_000


@register(PluginKind.METRIC, "fuzzy_place_math")
def fuzzy_place_math(result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False) -> MetricValue:
    """The mean similarity (rapidfuzz's `ratio` / 100) of the document's three words to their nearest places.

    Args:
        result: path of a .docx file; words are separated by blanks. Any other number of words gives 0.
        rules: `expected`: the places to choose from.
        strict_upstream: see only what upstream sees of a document, direct runs and links of its paragraphs.
    """
    from rapidfuzz import fuzz

    places = texts(rule(rules, "expected"), "`expected`")
    if not places:
        raise EvaluatorFailed("the rules have no places", code="invalid_rule", hint=HINT)
    words, reason = documents.read_document(
        result, lambda document: " ".join(documents.texts(document)).split(), as_stored=strict_upstream
    )
    if words is None:
        return verdict(met=False, reason=reason)
    if len(words) != PLACES:
        return verdict(met=False, reason=f"the document has {len(words)} words, expected {PLACES}: {short(words)}")
    best = [max((fuzz.ratio(word[:MAX_WORD], place) / 100, place) for place in places) for word in words]
    reasons = tuple(
        f"{short(word)} is {score:.3f} like {short(place)}" for word, (score, place) in zip(words, best, strict=True)
    )
    return MetricValue(value=sum(score for score, _ in best) / PLACES, reasons=reasons)
