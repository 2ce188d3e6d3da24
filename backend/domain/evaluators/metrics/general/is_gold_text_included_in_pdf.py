"""`is_gold_text_included_in_pdf`: a PDF contains some texts."""

from pathlib import Path

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import share_of_goals, short, verdict
from backend.domain.formats.jsons import read_json
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

MAX_BYTES = 256 * 2**20
MAX_PAGES = 1000
_LETTERS = {0xFB00 + index: letters for index, letters in enumerate(("ff", "fi", "fl", "ffi", "ffl", "st", "st"))}
_LETTERS |= dict.fromkeys((0xAD, 0x200B, 0xFEFF), "")


@register(PluginKind.METRIC, "is_gold_text_included_in_pdf")
def is_gold_text_included_in_pdf(result: str | None, expected: str | None) -> MetricValue:
    """1 if the PDF's text has every value of a JSON object.

    White space is ignored: PDF readers differ in where lines and words end. So are soft hyphens; ligatures, which fonts
    put in place of letters, count as these.

    Args:
        result: path of the PDF.
        expected: path of a JSON file, name -> text.
    """
    expected_texts, reason = read_json(expected)
    if reason or not isinstance(expected_texts, dict) or not expected_texts:
        raise EvaluatorFailed(
            f"the file with the texts: {reason or 'not a JSON object with texts'}", code="invalid_reference"
        )
    if not all(isinstance(value, str) for value in expected_texts.values()):
        raise EvaluatorFailed("the file with the texts has other values as well", code="invalid_reference")
    text, reason = _text(result)
    if text is None:
        return verdict(met=False, reason=reason)
    return share_of_goals(
        [(_dense(value) in text, f"{key}: {short(value)}") for key, value in expected_texts.items()], partial=False
    )


def _dense(text: str) -> str:
    return "".join(text.translate(_LETTERS).split())


def _text(path: str | None) -> tuple[str | None, str]:
    import pypdfium2  # type: ignore[import-untyped]

    if path is None or not Path(path).is_file():
        return None, "the file does not exist"
    if Path(path).stat().st_size > MAX_BYTES:
        return None, f"the file is larger than {MAX_BYTES // 2**20} MiB"
    try:
        document = pypdfium2.PdfDocument(Path(path).read_bytes())
        pages = min(len(document), MAX_PAGES)
        parts = [_dense(document[number].get_textpage().get_text_range()) for number in range(pages)]
    except (pypdfium2.PdfiumError, ValueError) as error:
        return None, f"the file is not a readable PDF: {error}"
    return "".join(parts), ""
