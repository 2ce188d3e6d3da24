"""`check_highlighted_words`: no word of an OpenDocument text is highlighted in yellow any more."""

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.evaluators.metrics.docs._documents import first_wrong
from backend.domain.evaluators.metrics.docs._texts import same_text
from backend.domain.formats.odt import Odt, OdtBackgrounds, odt_paragraphs, pieces, read_odt
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_YELLOW = "#ffff00"


@register(PluginKind.METRIC, "check_highlighted_words")
def check_highlighted_words(result: str | None, expected: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """1 if the texts are the same (ignoring blanks) and nothing has a yellow background.

    Args:
        result: path of the .odt file to judge.
        expected: path of the .odt file with the same text.
        strict_upstream: read the text as published, and check only the automatic styles of spans.
    """
    if not str(expected).endswith(".odt"):
        raise EvaluatorFailed("the expected document is not an .odt file", code="invalid_reference")
    differs = same_text(result, expected, strict_upstream=strict_upstream)
    if differs is not None:
        return differs
    highlights, reason = read_odt(result, _spans if strict_upstream else _yellow)
    if highlights is None:
        return verdict(met=False, reason=reason)
    return first_wrong([f"{short(text, 60)} is highlighted" for text in highlights], "nothing is highlighted in yellow")


def _yellow(document: Odt) -> list[str]:
    backgrounds = OdtBackgrounds(document)
    return [
        text
        for paragraph in odt_paragraphs(document)
        for text, styles in pieces(paragraph)
        if text.strip() and backgrounds.color_of(styles) == _YELLOW
    ]


def _spans(document: Odt) -> list[str]:
    backgrounds = OdtBackgrounds(document, automatic_only=True)
    return ["".join(span.itertext()) for name, span in document.spans() if backgrounds.color_of((name,)) == _YELLOW]
