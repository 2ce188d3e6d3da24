"""Runs a command in the desktop for the getters of its two streams."""

from typing import Literal

from backend.domain.errors import GuestRefused
from backend.domain.evaluators.getters._evidence import MAX_NOTE, absence
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext


class CommandParams(Parameters):
    """`command`, a string or a list; `shell`."""

    command: str | tuple[str, ...]
    shell: bool = False


def run(context: SetupContext, params: CommandParams, *, stream: Literal["output", "error"]) -> Blob:
    """The output on one of its streams, with the exit code and the beginning of the other stream as note.

    There is no data if it was truncated: what a rule excludes could be in the rest.

    Raises:
        GuestRefused: as `absence`; for example on a timeout, which a busy machine can cause.
    """
    name = params.command if isinstance(params.command, str) else " ".join(params.command)
    try:
        result = context.desktop.execute(params.command, shell=params.shell)
    except GuestRefused as error:
        return absence(name, error)
    if result.truncated:
        return Blob(name=name, note="it printed more than the desktop keeps, so nobody can say what it lacks")
    text, other_stream = (result.output, result.error) if stream == "output" else (result.error, result.output)
    note = f"exit code {result.returncode} {other_stream.strip()[:MAX_NOTE]}".strip() if result.returncode else ""
    return Blob(name=name, data=text.encode(errors="replace"), media_type="text/plain", note=note)
