"""`check_mouse_clicks`: clicks since the part became current."""

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import ParameterGetter, json_value, only
from backend.domain.evaluators.getters.omnibench._checked import Text, input_log_blob, search_text
from backend.domain.evaluators.getters.omnibench._shown import read_text
from backend.domain.formats.wording import says
from backend.domain.model.score import Blob
from backend.domain.omnibench.expression import DIALECT
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "check_mouse_clicks", dialect=DIALECT)
class CheckMouseClicks(ParameterGetter):
    """The value is `{text, clicks}`: each click's `control` and `role`, or the text `read` there if it has no name."""

    Params = Text

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        return [input_log_blob(context, "click")]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        text = search_text(parameters)
        entries = json_value(only(blobs))
        named = any(says(entry.get("control", ""), text) for entry in entries)
        return {"text": text, "clicks": [_click(entry, look=not named) for entry in entries]}


def _click(entry: Mapping[str, Any], *, look: bool) -> dict[str, str]:
    """One click; OCR is used only if no name has decided the matter."""
    click = {key: str(entry.get(key, "")) for key in ("control", "role")}
    return click | ({"read": _read(entry["picture"])} if look and entry.get("picture") else {})


def _read(picture: str) -> str:
    try:
        data = base64.b64decode(picture, validate=True)
    except ValueError as error:
        raise EvaluatorFailed("the picture of a click is damaged", code="evidence_damaged") from error
    return read_text(data, "the picture of a click")
