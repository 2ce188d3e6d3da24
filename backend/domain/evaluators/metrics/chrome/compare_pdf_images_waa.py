"""`compare_pdf_images` of WindowsAgentArena: two PDFs look the same, page by page."""

from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.formats.pdf import PdfRefused, draw_pages
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "compare_pdf_images", dialect="waa")
def compare_pdf_images(pdf1_path: str | None, pdf2_path: str | None, **_unused: Any) -> MetricValue:
    """1 if every page, drawn at 72 dpi, is the same to the pixel.

    Args:
        pdf1_path: the file to judge.
        pdf2_path: the file to compare with.
        **_unused: upstream takes any option and looks at none.
    """
    try:
        expected_pages = draw_pages(pdf2_path)
    except PdfRefused as error:
        raise EvaluatorFailed(f"the file to compare with: {error}", code="invalid_reference") from error
    try:
        pages = draw_pages(pdf1_path)
    except PdfRefused as error:
        return verdict(met=False, reason=str(error))
    if len(pages) != len(expected_pages):
        return verdict(met=False, reason=f"{len(pages)} pages, expected {len(expected_pages)}")
    differ = [
        number
        for number, (one, other) in enumerate(zip(pages, expected_pages, strict=True), start=1)
        if one.size != other.size or one.tobytes() != other.tobytes()
    ]
    return verdict(not differ, f"pages that look different: {differ[:20]}" if differ else f"{len(pages)} equal pages")
