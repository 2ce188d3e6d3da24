"""Finds programs by name, as Windows' `Run` dialog does, and builds their command lines."""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import PureWindowsPath
from typing import Any

from guest_server.windows import command_line

_APP_PATHS = r"Software\Microsoft\Windows\CurrentVersion\App Paths"
_OTHER_NAMES: Mapping[str, str] = {"google-chrome": "chrome", "python3": "python"}
"""Names that tasks use and that programs have on Linux only."""
BUILT_IN = frozenset({
    "assoc", "call", "cd", "chdir", "cls", "copy", "date", "del", "dir", "echo", "erase", "ftype", "md", "mkdir",
    "mklink", "move", "path", "rd", "ren", "rename", "rmdir", "set", "start", "time", "title", "type", "ver", "vol",
})  # fmt: skip
"""Built-in commands of `cmd`."""


class Programs:
    """Searches the folders of PATH, then the registry's list of applications."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._path = environment.get("PATH", "")
        self._shell = environment.get("COMSPEC", "cmd.exe")

    def find(self, name: str) -> str:
        """Path of the program, empty if it is unknown."""
        plain = _OTHER_NAMES.get(name.lower(), name)
        return shutil.which(plain, path=self._path) or self._registered_path(plain)

    def command(self, argv: Sequence[str]) -> str:
        """The command line of a program with its arguments; commands of `cmd` are run by it."""
        name = argv[0]
        if PureWindowsPath(name).name != name:
            return command_line.join(argv)
        if not PureWindowsPath(name).suffix and name.lower() in BUILT_IN:
            # `echo` prints quotes as well.
            return self.line(" ".join(argv) if name.lower() == "echo" else command_line.join(argv))
        return command_line.join([self.find(name) or name, *argv[1:]])

    def line(self, text: str) -> str:
        """Lets `cmd` execute a line; it strips the outer quotes, whatever is between them."""
        return f'{command_line.join([self._shell])} /d /s /c "{text}"'

    def _registered_path(self, name: str) -> str:
        file = name if PureWindowsPath(name).suffix else f"{name}.exe"
        for root in ("HKEY_CURRENT_USER", "HKEY_LOCAL_MACHINE"):
            value = _default_value(root, rf"{_APP_PATHS}\{file}")
            path = os.path.expandvars(value.strip('"'))
            if path and os.path.isfile(path):  # noqa: PTH113 - a path of any form.
                return path
        return ""


def _default_value(root: str, key: str) -> str:
    """A key's default text, empty if there is none."""
    try:
        import winreg

        registry: Any = vars(winreg)
        return str(registry["QueryValue"](registry[root], key))
    except (OSError, ImportError):
        return ""
