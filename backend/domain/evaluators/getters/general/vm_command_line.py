"""`vm_command_line`: a command's standard output."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter, only
from backend.domain.evaluators.getters.general._command import CommandParams, run
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "vm_command_line")
class VmCommandLine(ParameterGetter):
    """`command` (a string or a list), `shell`. The value is its output as text.

    None if it could not be run, or printed more than the desktop keeps (4 MiB).
    """

    Params = CommandParams

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        return [run(context, CommandParams.parse(parameters), stream="output")]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        blob = only(blobs)
        return None if blob.data is None else blob.data.decode(errors="replace")
