"""`vm_library_folders`: the folders in a Windows library. WAA."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import ParameterGetter, only
from backend.domain.evaluators.getters._routes import answer, ask_route
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Library(Parameters):
    library_name: str


@register(PluginKind.GETTER, "vm_library_folders")
class VmLibraryFolders(ParameterGetter):
    """`library_name`. The value is a sorted list of paths, None if there is no such library."""

    Params = _Library

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        name = _Library.parse(parameters).library_name
        return [ask_route(context, "/library_folders", {"library_name": name})]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        reply = answer(only(blobs))
        if reply is None:
            return None
        folders = reply.get("output") if isinstance(reply, dict) else None
        if not isinstance(folders, list) or not all(isinstance(path, str) for path in folders):
            raise EvaluatorFailed(
                "the guest's answer about the library has no list of folders", code="evidence_unreadable"
            )
        return sorted(folders)
