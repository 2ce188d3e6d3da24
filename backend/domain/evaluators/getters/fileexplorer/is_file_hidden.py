"""`is_file_hidden`: whether a file is hidden. WAA."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import ParameterGetter, json_value, only, python_says
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

# Runs inside the desktop. A file is hidden by its attribute in Windows, by a dot elsewhere and in WAA's tasks.
_LOOK = """
import os
path = os.path.expanduser(VALUES["path"])
hidden = os.path.basename(path.replace(chr(92), "/")).startswith(".")
if os.path.exists(path):
    hidden = hidden or bool(getattr(os.stat(path), "st_file_attributes", 0) & 2)
else:
    hidden = False
print(json.dumps(hidden))
"""


class _File(Parameters):
    file_path: str


@register(PluginKind.GETTER, "is_file_hidden")
class IsFileHidden(ParameterGetter):
    """`file_path`. The value is the text `true` or `false`; a missing file is not hidden."""

    Params = _File

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        path = _File.parse(parameters).file_path
        return [python_says(context, path, _LOOK, path=path)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        hidden = json_value(only(blobs))
        if not isinstance(hidden, bool):
            raise EvaluatorFailed("the desktop did not report whether the file is hidden", code="evidence_unreadable")
        return "true" if hidden else "false"
