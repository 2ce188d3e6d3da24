from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters.vscode.vscode_config import VscodeConfig
from backend.domain.model.trajectory import Action, ActionType
from backend.domain.ports.desktop import ExecResult
from tests.factories.desktops import linux
from tests.factories.starter_tasks import FakeContext
from tests.fakes.desktop import FakeWindow

PARAMETERS = {"vscode_extension_command": "OpenProject", "path": "/home/user/P.txt", "dest": "P.txt"}


def code(files: dict[str, bytes] | None = None, workspaces: str = "") -> FakeContext:
    context = linux(files, open_windows=[FakeWindow(title="a - Visual Studio Code"), FakeWindow(title="Terminal")])
    context.desktop.commands["find"] = lambda _: ExecResult(returncode=0, output=workspaces)
    return context


def value(context: FakeContext, folder: Path) -> Any:
    return VscodeConfig().read(VscodeConfig().collect(context, PARAMETERS), PARAMETERS, folder)


def test_command_is_typed_into_vs_codes_window(tmp_path: Path) -> None:
    context = code()
    windows: list[str] = []

    def seen(action: Action) -> None:
        windows.append(context.desktop.open_windows[-1].title)
        if action.type is ActionType.PRESS:
            context.desktop.files["/home/user/P.txt"] = b"project"

    context.desktop.on_perform = seen
    assert Path(value(context, tmp_path)).read_bytes() == b"project"
    assert windows == ["a - Visual Studio Code"] * 3
    assert [action.keys or action.text for action in context.desktop.performed] == [
        ("ctrl", "shift", "p"),
        "OpenProject",
        ("enter",),
    ]


def test_workspace_list_is_used_without_the_extensions_file(tmp_path: Path) -> None:
    context = code(workspaces='{"folder": "file:///home/user/project"}')
    assert "project" in Path(value(context, tmp_path)).read_text()
    assert "no such file" in VscodeConfig().collect(context, PARAMETERS)[0].note


def test_closed_vs_code_gives_none_without_any_input(tmp_path: Path) -> None:
    context = code()
    context.desktop.open_windows.clear()
    assert value(context, tmp_path) is None
    assert context.desktop.performed == []
    assert "no window" in VscodeConfig().collect(context, PARAMETERS)[0].note
