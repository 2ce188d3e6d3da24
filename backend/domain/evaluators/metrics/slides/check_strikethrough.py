"""`check_strikethrough`: certain paragraphs are struck through."""

from collections.abc import Iterator, Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import rule
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.slides import Deck, SlideParagraph
from backend.domain.formats.slides_reader import read_deck
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_PLACES = ("slide_index_s", "shape_index_s", "paragraph_index_s")


@register(PluginKind.METRIC, "check_strikethrough")
def check_strikethrough(result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False) -> MetricValue:
    """1 if all words of the paragraphs are struck through.

    Args:
        result: path of the agent's .pptx file.
        rules: `slide_index_s`, `shape_index_s`, `paragraph_index_s`: lists of positions from 0; every combination is
            checked.
        strict_upstream: accept any value of the first run's strike-through, even none.

    Raises:
        EvaluatorFailed: the rules name no paragraph.
    """
    slides, shapes, paragraphs = (_positions(rules, key) for key in _PLACES)
    deck, reason = read_deck(result, as_stored=strict_upstream)
    if deck is None:
        return verdict(met=False, reason=reason)
    wrong = [
        words
        for slide in slides
        for shape in shapes
        for number in paragraphs
        for words in _missing(deck, slide, shape, number, strict=strict_upstream)
    ]
    return verdict(not wrong, "; ".join(wrong[:10]) or "everything is struck through")


def _positions(rules: Mapping[str, Any], key: str) -> list[int]:
    positions = rule(rules, key)
    if not isinstance(positions, list) or not positions or not all(isinstance(position, int) for position in positions):
        raise EvaluatorFailed(f"{key} is {short(positions)}, expected a list of positions", code="invalid_rule")
    return positions


def _missing(deck: Deck, slide: int, shape: int, number: int, *, strict: bool) -> Iterator[str]:
    path = f"slide {slide + 1}, shape {shape + 1}, paragraph {number + 1}"
    try:
        paragraphs = deck.slides[slide].shapes[shape].paragraphs
        paragraph = paragraphs[number] if paragraphs is not None else None
    except IndexError:
        paragraph = None
    if paragraph is None or not paragraph.runs:
        yield f"{path} has no text"
    elif strict and not paragraph.runs[0].says_strike:
        yield f"{path} does not begin with struck-through words"
    elif not strict:
        yield from (f"{path}: {short(text, 40)} is not struck through" for text in _plain(paragraph))


def _plain(paragraph: SlideParagraph) -> list[str]:
    words = [run for run in paragraph.runs if run.text.strip()]
    return [run.text for run in words if run.strike == "noStrike"] if words else [paragraph.text]
