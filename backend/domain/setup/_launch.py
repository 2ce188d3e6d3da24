"""`launch` in each dialect."""

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from backend.domain.errors import ProgramBroken, TaskSetupFailed
from backend.domain.loop.polling import look_again
from backend.domain.model.parameters import Parameters
from backend.domain.ports.desktop import Desktop
from backend.domain.ports.task import SetupContext
from backend.domain.setup._execute import Command
from backend.domain.setup._kill_program import end, ends

_LOOKS = 120  # 30 s: an image editor on a busy machine takes half of that
_QUIET, _SETTLE = 0.5, 10.0
_PROXY = "--proxy-server=http://127.0.0.1:18888"
"""Where the way out of every desktop listens; also the port that OSWorld's own proxy has."""
_FORWARDERS = frozenset({"socat", "ncat"})
_WINDOWED = frozenset(
    {
        *("google-chrome", "chrome", "chromium", "msedge", "firefox", "thunderbird", "code", "gimp", "vlc"),
        *("libreoffice", "soffice", "localc", "lowriter", "loimpress", "nautilus", "explorer", "calc", "notepad"),
        *("excel", "winword", "powerpnt", "gnome-terminal", "mspaint"),
    }
)
"""Programs that always come with a window. The agent must not begin before it is there."""


class _Launch(Parameters):
    command: Command
    shell: bool = False


class LaunchStep:
    """`command` (a string or a list), `shell`. Keeps it running; waits for its window if it is known to have one.

    A forward of the browser's debugging port (`socat`, `ncat`) does nothing: that port is reached as it is. After
    `pkill NAME` the program is gone; it is ended before its helpers.
    """

    def check(self, parameters: Mapping[str, Any]) -> None:
        _Launch.parse(parameters)

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        step = _Launch.parse(parameters)
        words = words_of(step.command)
        program = program_of(words)
        if program in _FORWARDERS and re.search(r"\b1337\b", " ".join(words)):
            context.desktop.probe()
            return
        if ends(words):
            end(context, words)
            return
        before = len(context.desktop.windows()) if program in _WINDOWED else 0
        command, shell = self.command(context, step.command, shell=step.shell)
        context.desktop.launch(command, shell=shell)
        if program in _WINDOWED:
            _await_window(context.desktop, words, before)

    def command(
        self, context: SetupContext, command: str | Sequence[str], *, shell: bool
    ) -> tuple[str | Sequence[str], bool]:
        """The command for the desktop, and whether it uses a shell."""
        if not shell and isinstance(command, str):
            command = command.split()
        if not isinstance(command, str) and command[:1] and command[0] == "google-chrome" and wants_proxy(context):
            command = [*command, _PROXY]
        return command, shell


def wants_proxy(context: SetupContext) -> bool:
    """Whether the task requires the operator's proxy."""
    return context.task.raw.get("proxy") is True


def words_of(command: str | Sequence[str]) -> list[str]:
    """A command's words; a line whose quotes are not closed is split at blanks."""
    if not isinstance(command, str):
        return list(command)
    try:
        return shlex.split(command, posix="\\" not in command)
    except ValueError:
        return command.split()


def program_of(words: Sequence[str]) -> str:
    """The name of the program that a command starts, in small letters: `vlc` for `VLC_VERBOSE=-1 /usr/bin/vlc x`."""
    for position, word in enumerate(words):
        name = PureWindowsPath(word).name if "\\" in word else PurePosixPath(word).name
        name = name.strip("\"'").lower().removesuffix(".exe")
        if name in {"cmd", "start"} or word.lower() == "/c" or re.fullmatch(r"[A-Za-z_]\w*=.*", word):
            continue
        return program_of(word.split()) if " " in word and "\\" not in word and position else name
    return ""


def _await_window(desktop: Desktop, words: Sequence[str], before: int) -> None:
    """A program may show its file in an existing window, so a missing new window is not an error.

    A program without any window is started once more without arguments: that tells whose fault it is.

    Raises:
        TaskSetupFailed: no window with the task's arguments.
        ProgramBroken: no window without arguments either.
    """
    program = program_of(words)
    look_again(desktop, lambda: len(desktop.windows()) > before, looks=_LOOKS)
    if not desktop.windows():
        if program_of(words[:1]) == program:
            desktop.launch([words[0]])
            if not look_again(desktop, lambda: bool(desktop.windows()), looks=_LOOKS):
                raise ProgramBroken(f"{program} opens no window on this desktop")
        raise TaskSetupFailed(f"{program} was started, but no window opened", code="window_not_opened")
    desktop.wait_stable(quiet=_QUIET, timeout=_SETTLE)
