"""`compare_image_text`: a picture contains a text."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.picture_text import SECONDS, readings
from backend.domain.formats.pictures import read_picture
from backend.domain.formats.xwd import is_xwd, read_xwd
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from PIL.Image import Image

LONGEST = 30_000
"""Maximum side in pixels, near Tesseract's limit."""


@register(PluginKind.METRIC, "compare_image_text")
def compare_image_text(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """1 if the text is part of the picture's text, by OCR.

    We use Tesseract, upstream EasyOCR: small or decorative letters may differ (`ls` as `1s`, say), which is why the
    published task accepts either. White space counts as one blank.

    Args:
        result: path of the picture; X window dumps are supported.
        rules: `type`: `text`; `text`: what to look for.

    Raises:
        EvaluatorFailed: the rules are invalid, or OCR timed out, as on a busy machine.
    """
    expected = rules.get("text")
    if rules.get("type") != "text" or not isinstance(expected, str):
        raise EvaluatorFailed(
            f"a rule of type {rules.get('type')!r} with text {expected!r} is not valid", code="invalid_rule"
        )
    picture, reason = _picture(result)
    if picture is None:
        return verdict(met=False, reason=reason)
    if max(picture.size) > LONGEST:
        return verdict(met=False, reason=f"the picture of {picture.width}x{picture.height} is too large for OCR")
    looked = []
    for text in readings(picture):
        if text is None:
            raise EvaluatorFailed(f"the picture could not be read within {SECONDS:g} s", code="ocr_timeout")
        if " ".join(expected.split()) in text:
            return verdict(met=True, reason=f"{expected!r} is in the picture: {short(text)}")
        looked.append(short(text))
    return verdict(met=False, reason=f"{expected!r} is not in the text found by OCR: {'; '.join(looked)}")


def _picture(path: str | None) -> tuple["Image | None", str]:
    if path is not None and Path(path).is_file() and is_xwd(path):
        return read_xwd(path)
    return read_picture(path)
