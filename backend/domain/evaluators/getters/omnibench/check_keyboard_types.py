"""`check_keyboard_types`: typed input since the part became current."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter, json_value
from backend.domain.evaluators.getters.omnibench._checked import Text, input_log_blob, search_text, two
from backend.domain.formats.typed import join_typing
from backend.domain.model.score import Blob
from backend.domain.omnibench.expression import DIALECT
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "check_keyboard_types", dialect=DIALECT)
class CheckKeyboardTypes(ParameterGetter):
    """The value is `{text, typed, keys}`: texts typed without interruption, and keys that produce no text."""

    Params = Text

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        return [input_log_blob(context, "type"), input_log_blob(context, "click")]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        typed, clicks = (json_value(blob) for blob in two(blobs))
        texts, keys = join_typing(typed, {int(click["number"]) for click in clicks})
        return {"text": search_text(parameters), "typed": texts, "keys": keys}
