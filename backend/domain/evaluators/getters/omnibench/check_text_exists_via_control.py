"""`check_text_exists_via_control`: the texts of visible controls."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter, only
from backend.domain.evaluators.getters.omnibench._checked import Text, search_text
from backend.domain.evaluators.getters.omnibench._shown import tree, words_of
from backend.domain.model.score import Blob
from backend.domain.omnibench.expression import DIALECT
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "check_text_exists_via_control", dialect=DIALECT)
class CheckTextExistsViaControl(ParameterGetter):
    """The value is `{text, shown}`: name and text of every visible control."""

    Params = Text

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        return [tree(context)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        return {"text": search_text(parameters), "shown": words_of(only(blobs))}
