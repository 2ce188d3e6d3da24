"""`check_text_exists`: the texts on the screen, from controls or else by OCR."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter
from backend.domain.evaluators.getters.omnibench._checked import Text, search_text, two
from backend.domain.evaluators.getters.omnibench._shown import read_from, screen, tree, words_of
from backend.domain.formats.wording import says
from backend.domain.model.score import Blob
from backend.domain.omnibench.expression import DIALECT
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "check_text_exists", dialect=DIALECT)
class CheckTextExists(ParameterGetter):
    """The value is `{text, shown}`: texts of controls and, if the expected one is missing, the text found by OCR."""

    Params = Text

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        return [tree(context), screen(context)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        text = search_text(parameters)
        controls, picture = two(blobs)
        words = words_of(controls)
        return {
            "text": text,
            "shown": words if any(says(text_shown, text) for text_shown in words) else [*words, read_from(picture)],
        }
