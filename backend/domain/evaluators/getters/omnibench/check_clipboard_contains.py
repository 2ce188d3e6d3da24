"""`check_clipboard_contains`: the text of the clipboard."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter, as_json, json_value, only
from backend.domain.evaluators.getters.omnibench._checked import Text, search_text
from backend.domain.model.score import Blob
from backend.domain.omnibench.expression import DIALECT
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

MOST = 100_000
"""Maximum characters that are searched."""


@register(PluginKind.GETTER, "check_clipboard_contains", dialect=DIALECT)
class CheckClipboardContains(ParameterGetter):
    """The value is `{text, clipboard}`."""

    Params = Text

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        return [as_json("clipboard", context.desktop.clipboard()[:MOST])]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        return {"text": search_text(parameters), "clipboard": str(json_value(only(blobs)))}
