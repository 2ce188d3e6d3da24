"""The screen's content: texts of controls, and the picture."""

import io

from backend.domain.errors import EvaluatorFailed, Invalid
from backend.domain.formats.accessibility import widgets
from backend.domain.formats.picture_text import SPARSE, readings
from backend.domain.formats.pictures import decode_picture
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext


def tree(context: SetupContext) -> Blob:
    return Blob(
        name="accessibility tree", data=context.desktop.accessibility_tree().encode(), media_type="application/xml"
    )


def screen(context: SetupContext) -> Blob:
    """The screenshot."""
    return Blob(name="screen", data=context.desktop.screenshot().data, media_type="image/png")


def words_of(blob: Blob) -> list[str]:
    """Names and texts of the visible controls. Raises EvaluatorFailed if the tree cannot be read."""
    try:
        controls = widgets((blob.data or b"").decode(errors="replace"))
    except Invalid as error:
        raise EvaluatorFailed(error.message, code="evidence_unreadable") from error
    texts = [text.strip() for control in controls if control.on_screen for text in (control.name, control.text)]
    return list(dict.fromkeys(text for text in texts if text))


def read_from(blob: Blob) -> str:
    """The text in the screenshot, by OCR. Raises EvaluatorFailed if OCR fails or times out."""
    return read_text(blob.data or b"", "the picture of the screen")


def read_text(data: bytes, name: str) -> str:
    """The text in a picture, by OCR. Raises EvaluatorFailed if the picture is damaged or OCR times out."""
    picture, reason = decode_picture(io.BytesIO(data))
    if picture is None:
        raise EvaluatorFailed(f"{name} is damaged: {reason}", code="evidence_damaged")
    text = next(iter(readings(picture, SPARSE)))
    if text is None:
        raise EvaluatorFailed(f"{name} could not be read in time", code="evidence_unreadable")
    return text
