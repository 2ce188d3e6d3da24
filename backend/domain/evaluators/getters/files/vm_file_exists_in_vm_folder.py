"""`vm_file_exists_in_vm_folder`: whether a file is in a folder. WAA."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter, only
from backend.domain.evaluators.getters._routes import agreed, ask_route
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Place(Parameters):
    folder_name: str
    file_name: str


@register(PluginKind.GETTER, "vm_file_exists_in_vm_folder")
class VmFileExistsInVmFolder(ParameterGetter):
    """`folder_name`, `file_name`. The value is 1.0 or 0.0; an empty file exists as well."""

    Params = _Place

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        location = _Place.parse(parameters)
        return [ask_route(context, "/file_exists", {"path": location.folder_name, "file_name": location.file_name})]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        return float(agreed(only(blobs)))
