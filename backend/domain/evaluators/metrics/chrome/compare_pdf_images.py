"""`compare_pdf_images`: two PDFs have the same pictures."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.evaluators.metrics.chrome._pictures import alike, alike_pages
from backend.domain.formats.pdf import PdfRefused, draw_pages, read_pictures
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from PIL.Image import Image


@register(PluginKind.METRIC, "compare_pdf_images")
def compare_pdf_images(
    pdf1_path: str | None, pdf2_path: str | None, *, strict_upstream: bool = False, **_unused: Any
) -> MetricValue:
    """The share of pictures that look alike (pHash within 5 of 64 bits, colours); 0 if their number differs.

    Args:
        pdf1_path: the file to judge.
        pdf2_path: the file to compare with. If it has no picture, the pages themselves are compared.
        strict_upstream: as OSWorld: two files without pictures are equal, and colours are ignored.
        **_unused: ignored, as upstream does.
    """
    try:
        expected = read_pictures(pdf2_path)
        pages = draw_pages(pdf2_path) if not expected and not strict_upstream else []
    except PdfRefused as error:
        raise EvaluatorFailed(f"expected file: {error}", code="invalid_reference") from error
    try:
        actual = read_pictures(pdf1_path)
        if not expected and not actual and not strict_upstream:
            return _compare(draw_pages(pdf1_path), pages, "page", alike_pages)
    except PdfRefused as error:
        return verdict(met=False, reason=str(error))
    return _compare(actual, expected, "picture", partial(alike, colours=not strict_upstream))


def _compare(
    actual: list["Image"], expected: list["Image"], noun: str, same: Callable[["Image", "Image"], bool]
) -> MetricValue:
    if len(actual) != len(expected):
        return verdict(met=False, reason=f"{len(actual)} {noun}s, expected {len(expected)}")
    if not expected:
        return verdict(met=True, reason=f"neither file has a {noun}")
    differ = [n for n, pair in enumerate(zip(actual, expected, strict=True), 1) if not same(*pair)]
    text = (
        f"of {len(expected)} {noun}s these differ: {short(differ[:20])}"
        if differ
        else f"all {len(expected)} {noun}s are alike"
    )
    return MetricValue(value=(len(expected) - len(differ)) / len(expected), reasons=(text,))


@register(PluginKind.METRIC, "compare_pdf_images", dialect="waa")
def compare_pdf_images_waa(pdf1_path: str | None, pdf2_path: str | None, **_unused: Any) -> MetricValue:
    """`compare_pdf_images` of WindowsAgentArena: two PDFs look the same, page by page.

    1 if every page, drawn at 72 dpi, is the same to the pixel.

    Args:
        pdf1_path: the file to judge.
        pdf2_path: the file to compare with.
        **_unused: ignored, as upstream does.
    """
    try:
        expected_pages = draw_pages(pdf2_path)
    except PdfRefused as error:
        raise EvaluatorFailed(f"expected file: {error}", code="invalid_reference") from error
    try:
        pages = draw_pages(pdf1_path)
    except PdfRefused as error:
        return verdict(met=False, reason=str(error))
    if len(pages) != len(expected_pages):
        return verdict(met=False, reason=f"{len(pages)} pages, expected {len(expected_pages)}")
    differ = [
        number
        for number, (page, expected_page) in enumerate(zip(pages, expected_pages, strict=True), start=1)
        if page.size != expected_page.size or page.tobytes() != expected_page.tobytes()
    ]
    return verdict(not differ, f"pages that look different: {differ[:20]}" if differ else f"{len(pages)} equal pages")
