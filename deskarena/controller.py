"""`env.controller` and `env.setup_controller` for agents written for OSWorld."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from deskarena import guest_calls
from deskarena.episode import Observation
from deskarena.guest_calls import Call, require_text
from deskarena.pictures import as_png

logger = logging.getLogger(__name__)
_TREE = """
import json, os
def tree(path):
    if not os.path.isdir(path) or os.path.islink(path):
        return {"type": "file", "name": os.path.basename(path)}
    entries = [tree(os.path.join(path, name)) for name in sorted(os.listdir(path))]
    return {"type": "directory", "name": os.path.basename(path), "children": entries}
"""


class Environment(Protocol):
    """Part of `DesktopEnv` that the controller uses."""

    screen_width: int
    screen_height: int

    def step(self, action: Any) -> object:
        """Carries out one action."""


class Controller:
    """The newest observation can be read freely; everything else is a step of the episode.

    Scripts and files need an action space with code, that is any but `computer_13`. They raise `NotSupported` where
    the service does not allow them.
    """

    def __init__(self, env: Environment, newest: Callable[[], Observation], call: Call) -> None:
        self._env = env
        self._newest = newest
        self._call = call

    def get_screenshot(self) -> bytes:
        """The newest screenshot as PNG."""
        observation = self._newest()
        return as_png(observation.picture, observation.media_type)

    def get_accessibility_tree(self) -> str | None:
        """The newest accessibility tree as XML, if the environment requests it."""
        tree = self._newest().details.get("accessibility_tree")
        return None if tree is None else str(tree)

    def get_terminal_output(self) -> str | None:
        """The newest text of the terminal, if the environment requests it."""
        text = self._newest().details.get("terminal")
        return None if text is None else str(text)

    def get_vm_platform(self) -> str:
        """`Linux` or `Windows`."""
        return str(self._newest().details["platform"])

    def get_vm_screen_size(self) -> dict[str, int]:
        """Pixels."""
        return {"width": self._env.screen_width, "height": self._env.screen_height}

    def execute_action(self, action: Any) -> None:
        """One step of the episode."""
        self._env.step(action)

    def execute_python_command(self, command: str) -> dict[str, Any]:
        """Pyautogui code, at most 30 s; `{status, output, error, returncode}`."""
        return guest_calls.run_command(self._call, command)

    def run_python_script(self, script: str) -> dict[str, Any]:
        """A script, at most 30 s; `{status, message, need_more, output, error, return_code}`."""
        return guest_calls.run_python(self._call, script)

    def run_bash_script(self, script: str, timeout: int = 30, working_dir: str | None = None) -> dict[str, Any]:
        """A bash script; `{status, output, error, returncode}`, where `output` has both streams."""
        return guest_calls.run_bash(self._call, script, timeout, working_dir)

    def get_file(self, file_path: str) -> bytes | None:
        """A file of the desktop, at most 512 KiB; None if it cannot be read."""
        return guest_calls.read_file(self._call, file_path)

    def get_vm_machine(self) -> str:
        """Kind of processor, for example `x86_64`."""
        return self._output_of("import platform; print(platform.machine())")

    def get_cursor_position(self) -> dict[str, int]:
        """Pixels."""
        x, y = self._output_of("print(*map(int, pyautogui.position()))").split()
        return {"x": int(x), "y": int(y)}

    def get_vm_desktop_path(self) -> str:
        """Folder of the user's desktop."""
        return self._output_of("import os; print(os.path.expanduser('~/Desktop'))")

    def get_vm_directory_tree(self, path: str) -> dict[str, Any] | None:
        """`{type, name, children}` of a folder, recursively; None if it cannot be read."""
        require_text("get_vm_directory_tree", "path", path)
        result = guest_calls.run_command(self._call, f"{_TREE}\nprint(json.dumps(tree({path!r})))")
        tree: dict[str, Any] | None = None if result["returncode"] else json.loads(result["output"])
        return tree

    def start_recording(self) -> None:
        """Does nothing: the service stores a picture of every step."""

    def end_recording(self, dest: str) -> None:
        """No film is written: the episode's page shows its steps."""
        logger.info("%s is not written: the service has the episode's steps", dest)

    def _output_of(self, command: str) -> str:
        result = guest_calls.run_command(self._call, command)
        if result["returncode"]:
            raise OSError(f"the desktop's Python failed: {result['error']}")
        return str(result["output"]).strip()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"controller.{name} is not available here. See docs/bring-an-agent.md for what is.")


class SetupController:
    """The parts of OSWorld's set-up that agents call during an episode; each call is a step of it."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def _upload_file_setup(self, files: Sequence[Mapping[str, str]]) -> None:
        """Copies files `{local_path, path}` to the desktop, at most 512 KiB each."""
        for file in files:
            if not isinstance(file, Mapping) or not {"local_path", "path"} <= set(file):
                raise TypeError(f"_upload_file_setup: expected objects with local_path and path, not {file!r}"[:500])
            guest_calls.write_file(self._call, file["path"], Path(file["local_path"]).read_bytes())

    def _launch_setup(self, command: str | Sequence[str], shell: bool = False) -> None:  # noqa: FBT001, FBT002 - OSWorld's own.
        """Starts a program and does not wait for it."""
        guest_calls.launch(self._call, command, shell=shell)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(
            f"setup_controller.{name} is not available here: the service sets the task up, by the imported benchmark"
        )
