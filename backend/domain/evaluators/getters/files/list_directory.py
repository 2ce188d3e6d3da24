"""`list_directory`: the tree of a folder of the desktop."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed, GuestRefused
from backend.domain.parameters import Parameters
from backend.domain.ports import SetupContext
from backend.domain.registry import Kind, register
from backend.domain.score import Blob


class _Directory(Parameters):
    path: str


@register(Kind.GETTER, "list_directory")
class ListDirectory:
    """`path`. The value is `{type, name, children}`, None if there is no such folder."""

    def check(self, parameters: Mapping[str, Any]) -> None:
        """Raises Invalid if the parameters are wrong."""
        _Directory.of(parameters)

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        """See the port."""
        path = _Directory.of(parameters).path
        try:
            answer = context.desktop.call("POST", "/list_directory", {"path": path})
        except GuestRefused as error:
            return [Blob(name=path, note=error.message)]
        return [Blob(name=path, data=json.dumps(answer).encode(), media_type="application/json")]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        """See the port."""
        if len(blobs) != 1:
            raise EvaluatorFailed(f"one folder was asked for, {len(blobs)} were gathered")
        if blobs[0].data is None:
            return None
        answer = json.loads(blobs[0].data)
        if not isinstance(answer, dict) or "directory_tree" not in answer:
            raise EvaluatorFailed("the guest's answer about the folder has no `directory_tree`")
        return answer["directory_tree"]
