"""`is_red_circle_present_on_canvas`: whether a picture shows one red circle that is white inside. WAA."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter, fetch_file, only, write_blob
from backend.domain.evaluators.getters.microsoftpaint._circle import shows_red_circle
from backend.domain.formats.pictures import read_picture
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Picture(Parameters):
    filepath: str


@register(PluginKind.GETTER, "is_red_circle_present_on_canvas")
class IsRedCirclePresentOnCanvas(ParameterGetter):
    """`filepath`. The value is True or False."""

    Params = _Picture

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        return [fetch_file(context, _Picture.parse(parameters).filepath)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        picture, _ = read_picture(write_blob(only(blobs), "picture", folder))
        return picture is not None and shows_red_circle(picture)
