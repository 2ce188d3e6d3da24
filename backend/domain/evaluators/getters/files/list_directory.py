"""`list_directory`: the tree of a folder of the desktop."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed, GuestRefused
from backend.domain.evaluators.getters._evidence import ParameterGetter, absence, as_json, json_value, only
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Directory(Parameters):
    path: str


@register(PluginKind.GETTER, "list_directory")
class ListDirectory(ParameterGetter):
    """`path`. The value is `{type, name, children}`, None if the folder does not exist."""

    Params = _Directory

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        path = _Directory.parse(parameters).path
        try:
            return [as_json(path, context.desktop.call("POST", "/list_directory", {"path": path}))]
        except GuestRefused as error:
            return [absence(path, error)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        if only(blobs).data is None:
            return None
        answer = json_value(blobs[0])
        if not isinstance(answer, dict) or "directory_tree" not in answer:
            raise EvaluatorFailed(
                "the guest's answer about the folder has no `directory_tree`", code="evidence_unreadable"
            )
        return answer["directory_tree"]
