"""`image_dimension_matches_input`: whether a picture has a certain size. WAA."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter, fetch_file, only, write_blob
from backend.domain.formats.pictures import read_picture
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Size(Parameters):
    filepath: str
    width: float
    height: float


@register(PluginKind.GETTER, "image_dimension_matches_input")
class ImageDimensionMatchesInput(ParameterGetter):
    """`filepath`, `width`, `height` in pixels. The value is True or False."""

    Params = _Size

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        return [fetch_file(context, _Size.parse(parameters).filepath)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:
        params = _Size.parse(parameters)
        picture, _ = read_picture(write_blob(only(blobs), "picture", folder))
        return picture is not None and picture.size == (params.width, params.height)
