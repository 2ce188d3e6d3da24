"""`check_window_exists`: the titles of the windows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from backend.domain.evaluators.getters._evidence import ParameterGetter, as_json, json_value, only
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.omnibench.expression import DIALECT
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class Title(Parameters):
    """`title`: part of the title."""

    title: str = Field(min_length=1, max_length=1000)

    @field_validator("title", mode="before")
    @classmethod
    def _digits(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int | float) else value


@register(PluginKind.GETTER, "check_window_exists", dialect=DIALECT)
class CheckWindowExists(ParameterGetter):
    """The value is `{text, titles}`."""

    Params = Title

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        return [as_json("windows", [window.title for window in context.desktop.windows()])]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        return {"text": Title.parse(parameters).title, "titles": json_value(only(blobs))}
