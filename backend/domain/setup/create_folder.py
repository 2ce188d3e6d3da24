"""`create_folder`: makes a folder and those above it."""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import TaskSetupFailed
from backend.domain.model.parameters import Parameters
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Folder(Parameters):
    path: str


@register(PluginKind.SETUP, "create_folder")
class CreateFolder:
    """`path`. A folder that is there already is fine."""

    def check(self, parameters: Mapping[str, Any]) -> None:
        _Folder.parse(parameters)

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        path = _Folder.parse(parameters).path
        result = context.desktop.run_python(f"import os; os.makedirs(os.path.expanduser({path!r}), exist_ok=True)")
        if result.returncode != 0:
            raise TaskSetupFailed(
                f"the folder {path!r} could not be created: {result.error.strip()[-300:]}", code="command_failed"
            )
