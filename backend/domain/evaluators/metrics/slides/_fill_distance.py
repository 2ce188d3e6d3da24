"""Distance of the slides' backgrounds from a colour."""

from collections.abc import Callable, Mapping
from math import sqrt
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import rule
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.slides import Slide
from backend.domain.formats.slides_colours import Colour, rgb
from backend.domain.formats.slides_reader import read_deck
from backend.domain.model.score import MetricValue

_BLACK_TO_WHITE = sqrt(3 * 255**2)
ColourReader = Callable[[Slide], Colour | None]
"""The single colour of a slide's background; None if it has none or several."""


def nearness(result: str | None, expected: Colour, original: Colour | None, colour_of: ColourReader) -> MetricValue:
    """1 minus the mean distance of all slides: 0 for the right colour, 1 for black if white is expected.

    A slide with several colours, or still with the original one, has the maximum distance.
    """
    deck, reason = read_deck(result, as_stored=colour_of is stored_background)
    if deck is None or not deck.slides:
        return verdict(met=False, reason=reason or "the presentation has no slides")
    colours = [colour_of(slide) for slide in deck.slides]
    far = [1.0 if colour is None or colour == original else _distance(colour, expected) for colour in colours]
    off = [
        f"slide {n} is {c or 'of several colours'}" for n, (c, d) in enumerate(zip(colours, far, strict=True), 1) if d
    ]
    value = min(1.0, max(0.0, 1 - sum(far) / len(far)))
    return MetricValue(
        value=value, reasons=(*off[:10], f"expected {expected}: {len(colours) - len(off)} slides have it")
    )


def _distance(first: Colour, second: Colour) -> float:
    return sqrt(sum((a - b) ** 2 for a, b in zip(first, second, strict=True))) / _BLACK_TO_WHITE


def colour_rule(rules: Mapping[str, Any], key: str) -> Colour:
    """`[r, g, b]` of the rules. Raises EvaluatorFailed if it is malformed."""
    colour = rule(rules, key)
    if not isinstance(colour, list | tuple) or len(colour) != 3 or not all(isinstance(c, int) for c in colour):  # noqa: PLR2004
        raise EvaluatorFailed(f"{key} is {short(colour)}, expected [red, green, blue]", code="invalid_rule")
    return colour[0], colour[1], colour[2]


def effective_background(slide: Slide) -> Colour | None:
    """The colour of a plain background, including inherited and theme colours."""
    return slide.background.colours[0] if slide.background.kind == "solid" and slide.background.colours else None


def stored_background(slide: Slide) -> Colour | None:
    """Upstream's colour: of the slide or else its master, and only if written as RRGGBB."""
    fill = slide.master_background if slide.own_background.kind == "none" else slide.own_background
    return rgb(fill.rgb or "") if fill.kind == "solid" else None
