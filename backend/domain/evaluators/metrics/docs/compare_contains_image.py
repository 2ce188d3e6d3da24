"""`compare_contains_image`: two documents have pictures in the same paragraphs."""

from typing import TYPE_CHECKING

from backend.domain.evaluators.metrics.docs._documents import compare_documents, first_wrong
from backend.domain.formats.documents import paragraphs
from backend.domain.formats.word_wrappers import Element
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from docx.document import Document

_DRAWN = "{http://schemas.openxmlformats.org/drawingml/2006/main}graphicData"
_VML = "{urn:schemas-microsoft-com:vml}imagedata"


@register(PluginKind.METRIC, "compare_contains_image")
def compare_contains_image(result: str | None, expected: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """1 if the same paragraphs of the body have a picture or drawing.

    Args:
        result: path of the document to judge.
        expected: path of the expected document.
        strict_upstream: compare run by run, as far as the shorter document and paragraph go.
    """

    def take(document: "Document") -> list[list[bool]]:
        if not strict_upstream:
            return [[_has_picture(paragraph)] for paragraph in paragraphs(document)]
        return [["graphicData" in run.element.xml for run in paragraph.runs] for paragraph in document.paragraphs]

    def judge(actual: list[list[bool]], expected: list[list[bool]]) -> MetricValue:
        if not strict_upstream:
            missing = len(expected) - len(actual)
            actual = actual + [[False]] * missing
            expected = expected + [[False]] * -missing
        wrong = [
            f"paragraph {number} has {'no picture' if theirs else 'a picture'}, expected the opposite"
            for number, (own, gold) in enumerate(zip(actual, expected, strict=False), start=1)
            for own_run, theirs in zip(own, gold, strict=False)
            if own_run != theirs
        ]
        return first_wrong(wrong, "pictures are in the same paragraphs")

    return compare_documents(result, expected, take, judge, as_stored=strict_upstream)


def _has_picture(paragraph: Element) -> bool:
    return next(paragraph.iter(_DRAWN, _VML), None) is not None
