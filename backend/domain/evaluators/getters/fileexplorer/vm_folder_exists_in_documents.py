"""`vm_folder_exists_in_documents`: whether a folder is in Documents. WAA."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter
from backend.domain.evaluators.getters._folders import documents_folder, path_of
from backend.domain.evaluators.getters._routes import agreed, ask_route
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Folder(Parameters):
    folder_name: str


@register(PluginKind.GETTER, "vm_folder_exists_in_documents")
class VmFolderExistsInDocuments(ParameterGetter):
    """`folder_name`. The value is True or False."""

    Params = _Folder

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        folder = documents_folder(context)
        if folder.data is None or not agreed(folder):
            return [folder]
        payload = {"path": path_of(folder), "folder_name": _Folder.parse(parameters).folder_name}
        return [folder, ask_route(context, "/folder_exists", payload)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        return all(map(agreed, blobs))
