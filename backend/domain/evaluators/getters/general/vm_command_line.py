"""`vm_command_line`: what a command prints in the desktop."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed, GuestRefused
from backend.domain.parameters import Parameters
from backend.domain.ports import SetupContext
from backend.domain.registry import Kind, register
from backend.domain.score import Blob


class _Command(Parameters):
    command: str | tuple[str, ...]
    shell: bool = False


@register(Kind.GETTER, "vm_command_line")
class VmCommandLine:
    """`command` (a string or a list), `shell`. The value is its output as text, None if it could not be run."""

    def check(self, parameters: Mapping[str, Any]) -> None:
        """Raises Invalid if the parameters are wrong."""
        _Command.of(parameters)

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        """See the port."""
        wanted = _Command.of(parameters)
        name = wanted.command if isinstance(wanted.command, str) else " ".join(wanted.command)
        try:
            done = context.desktop.execute(wanted.command, shell=wanted.shell)
        except GuestRefused as error:
            return [Blob(name=name, note=error.message)]
        note = f"exit code {done.returncode} {done.error.strip()[:500]}".strip() if done.returncode else ""
        return [Blob(name=name, data=done.output.encode(), media_type="text/plain", note=note)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        """See the port."""
        if len(blobs) != 1:
            raise EvaluatorFailed(f"one output was asked for, {len(blobs)} were gathered")
        return None if blobs[0].data is None else blobs[0].data.decode(errors="replace")
