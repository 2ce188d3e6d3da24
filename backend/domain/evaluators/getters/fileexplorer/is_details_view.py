"""`is_details_view`: whether the File Explorer in front shows its folder in the details view. WAA."""

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
    folder_path: str


@register(PluginKind.GETTER, "is_details_view")
class IsDetailsView(ParameterGetter):
    """`folder_path`. The value is True or False."""

    Params = _Folder

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        params = _Folder.parse(parameters)
        return [ask_route(context, "/is_details_view", {"path": params.folder_path})]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        return agreed(only(blobs))
