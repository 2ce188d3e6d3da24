"""`compare_insert_equation`: two documents have the same text with equations in the same places."""

from itertools import zip_longest
from typing import TYPE_CHECKING

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.evaluators.metrics.docs._documents import first_wrong
from backend.domain.evaluators.metrics.docs._texts import with_same_text
from backend.domain.formats.documents import paragraphs
from backend.domain.formats.word_wrappers import Element, w
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from docx.document import Document

_FORMULA = "{http://schemas.openxmlformats.org/officeDocument/2006/math}oMath"


@register(PluginKind.METRIC, "compare_insert_equation")
def compare_insert_equation(result: str | None, expected: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """1 if the texts are the same (ignoring blanks) and the same paragraphs have an equation.

    An equation is Word's own format, which LibreOffice writes as well, or an embedded object. Its content is not
    compared.

    Args:
        result: path of the document to judge.
        expected: path of the expected document.
        strict_upstream: any run at the same position in both documents has an embedded object.
    """
    if strict_upstream:
        return with_same_text(result, expected, _objects, _judge_as_published, as_stored=True)
    return with_same_text(result, expected, _equations, _judge)


def _equations(document: "Document") -> list[bool]:
    return [next(paragraph.iter(_FORMULA, w("object")), None) is not None for paragraph in paragraphs(document)]


def _judge(actual: list[bool], expected: list[bool]) -> MetricValue:
    if not any(expected):
        raise EvaluatorFailed("the expected document has no equation", code="invalid_reference")
    wrong = [
        f"paragraph {number} has {'no' if theirs else 'an'} equation, expected the opposite"
        for number, (result, theirs) in enumerate(zip_longest(actual, expected, fillvalue=False), 1)
        if result != theirs
    ]
    return first_wrong(wrong, f"equations are in the {sum(expected)} paragraphs that should have one")


def _objects(document: "Document") -> list[list[bool]]:
    return [[_has_object(run) for run in paragraph.iterchildren(w("r"))] for paragraph in paragraphs(document)]


def _has_object(run: Element) -> bool:
    return next(run.iter(w("object")), None) is not None


def _judge_as_published(actual: list[list[bool]], expected: list[list[bool]]) -> MetricValue:
    pairs = (pair for result, gold in zip(actual, expected, strict=False) for pair in zip(result, gold, strict=False))
    return verdict(any(map(all, pairs)), "no run at the same position in both documents has an embedded object")
