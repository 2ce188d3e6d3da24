"""`vscode_config`: a file that an extension of VS Code writes when its command is called."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import GuestRefused
from backend.domain.evaluators.getters._evidence import ParameterGetter, absence, fetch_file, only, write_blob
from backend.domain.evaluators.getters._keys import StrokeKind, strike
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

WINDOW = "Visual Studio Code"
LOOKS = 5
_OPEN = "find ~/.config/Code/User/workspaceStorage -name workspace.json -exec cat {} \\; 2>/dev/null"


class _Config(Parameters):
    vscode_extension_command: str
    path: str
    dest: str


@register(PluginKind.GETTER, "vscode_config")
class VscodeConfig(ParameterGetter):
    """`vscode_extension_command`, `path` of the file that it writes, `dest`, the copy's name.

    The value is the copy's path. If the command writes no file, as without the extension, it is VS Code's own record of
    its workspaces; None if that is missing, too.
    """

    Params = _Config

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        params = _Config.parse(parameters)
        try:
            context.desktop.activate_window(WINDOW)
        except GuestRefused as error:
            called = f"no window to call the command in: {absence(WINDOW, error).note}"
        else:
            called = ""
            strike(context.desktop, StrokeKind.HOTKEY, ("ctrl", "shift", "p"))
            strike(context.desktop, StrokeKind.TYPEWRITE, params.vscode_extension_command)
            strike(context.desktop, StrokeKind.PRESS, "enter")
        blob = _await_file(context, params.path, looks=1 if called else LOOKS)
        return [blob if blob.data is not None else _workspaces(context, f"{blob.note}; {called}".rstrip("; "))]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:
        return write_blob(only(blobs), _Config.parse(parameters).dest, folder)


def _await_file(context: SetupContext, path: str, looks: int) -> Blob:
    """The file, once it exists and is not empty."""
    blob = fetch_file(context, path)
    for _ in range(looks - 1):
        if blob.data:
            break
        context.desktop.wait_stable(quiet=1.0, timeout=1.0)
        blob = fetch_file(context, path)
    return blob


def _workspaces(context: SetupContext, note: str) -> Blob:
    name = "workspaceStorage/*/workspace.json"
    try:
        result = context.desktop.execute(_OPEN, shell=True)  # noqa: S604 - in the desktop.
    except GuestRefused as error:
        return Blob(name=name, note=f"{note}; {absence(name, error).note}")
    return Blob(name=name, data=result.output.encode(errors="replace") or None, note=note)
