"""`launch`: starts a program and leaves it running."""

import subprocess
from collections.abc import Sequence

from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register
from backend.domain.setup._launch import LaunchStep


@register(PluginKind.SETUP, "launch")
class Launch(LaunchStep):
    """See `LaunchStep`. Follow it with `activate_window`, which waits for a window by its name."""


@register(PluginKind.SETUP, "launch", dialect="waa")
class LaunchWaa(LaunchStep):
    """`launch` as WindowsAgentArena's guest server does it: its command shell always reads the command.

    So `start`, `calc` and `ms-settings:` addresses work; `google-chrome` is `chrome`.
    """

    def command(
        self,
        context: SetupContext,  # noqa: ARG002 - as the common step
        command: str | Sequence[str],
        *,
        shell: bool,  # noqa: ARG002 - forced
    ) -> tuple[str | Sequence[str], bool]:
        """One line for the shell, quoted as Windows quotes."""
        words = command.split(" ") if isinstance(command, str) else list(command)
        words = ["chrome" if word == "google-chrome" else word for word in words]
        return (" ".join(words) if isinstance(command, str) else subprocess.list2cmdline(words)), True
