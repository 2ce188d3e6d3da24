"""`launch`: starts a program and leaves it running."""

from collections.abc import Mapping
from typing import Any

from backend.domain.parameters import Parameters
from backend.domain.ports import SetupContext
from backend.domain.registry import Kind, register


class _Launch(Parameters):
    command: str | tuple[str, ...]
    shell: bool = False


@register(Kind.SETUP, "launch")
class Launch:
    """`command` (a string or a list), `shell`. Follow it with `activate_window`, which waits for its window."""

    def check(self, parameters: Mapping[str, Any]) -> None:
        """See the port."""
        _Launch.of(parameters)

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        """See the port."""
        step = _Launch.of(parameters)
        context.desktop.launch(step.command, shell=step.shell)
