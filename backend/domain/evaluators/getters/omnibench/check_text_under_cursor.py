"""`check_text_under_cursor`: the selection, and the line of the text cursor."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import ParameterGetter, as_json, json_value, only
from backend.domain.evaluators.getters.omnibench._checked import Text, search_text
from backend.domain.model.score import Blob
from backend.domain.omnibench.expression import DIALECT
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

MOST = 100_000
"""Maximum characters that are searched."""


@register(PluginKind.GETTER, "check_text_under_cursor", dialect=DIALECT)
class CheckTextUnderCursor(ParameterGetter):
    """The value is `{text, selection, line}` of the control with the focus."""

    Params = Text

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        cursor = context.desktop.call("GET", "/text_cursor")
        if not isinstance(cursor, dict):
            raise EvaluatorFailed("the desktop did not report its text cursor", code="evidence_unreadable")
        return [as_json("text cursor", {key: str(cursor.get(key, ""))[:MOST] for key in ("selection", "line", "role")})]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        cursor = json_value(only(blobs))
        return {"text": search_text(parameters), "selection": cursor["selection"], "line": cursor["line"]}
