"""`are_all_images_tagged`: whether every picture in a folder has a tag. WAA."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter, only
from backend.domain.evaluators.getters._routes import agreed, ask_route
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Folder(Parameters):
    directory: str
    tag: str


@register(PluginKind.GETTER, "are_all_images_tagged")
class AreAllImagesTagged(ParameterGetter):
    """`directory`, `tag`. The value is True or False."""

    Params = _Folder

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        params = _Folder.parse(parameters)
        return [ask_route(context, "/are_all_images_tagged", {"directory": params.directory, "tag": params.tag})]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        return agreed(only(blobs))
