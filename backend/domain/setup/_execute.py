"""What `execute` and `command`, two names of one step type, do."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.errors import Invalid, TaskSetupFailed
from backend.domain.parameters import Parameters
from backend.domain.ports import ExecResult, SetupContext
from backend.domain.run import Screen
from backend.domain.setup._steps import look_again

TRIES = 5
_PASSWORD = "{CLIENT_PASSWORD}"  # noqa: S105 - a template's name, not a password.


class _Until(Parameters):
    returncode: int | None = None
    stdout: str | None = None
    stderr: str | None = None

    def met(self, done: ExecResult) -> bool:
        """Any of the conditions is enough, as upstream."""
        return (
            (self.returncode is not None and done.returncode == self.returncode)
            or (self.stdout is not None and self.stdout in done.output)
            or (self.stderr is not None and self.stderr in done.error)
        )


class _Execute(Parameters):
    command: str | tuple[str, ...]
    shell: bool = False
    until: _Until | None = None


class ExecuteStep:
    """`command` (a string or a list), `shell`, `until` (`returncode`, `stdout`, `stderr`: tried again until met).

    `{SCREEN_WIDTH}`, `{SCREEN_HEIGHT}` and their `_HALF` are replaced. Without `until`, any
    exit code but 0 fails.
    """

    def check(self, parameters: Mapping[str, Any]) -> None:
        """See the port."""
        step = _Execute.of(parameters)
        words = [step.command] if isinstance(step.command, str) else step.command
        if any(_PASSWORD in word for word in words):
            raise Invalid(f"{_PASSWORD} is not available: these desktops have no password", path="command")

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        """See the port."""
        step = _Execute.of(parameters)
        command = _filled(step.command, context.desktop.screen)
        results: list[ExecResult] = []

        def fulfilled() -> bool:
            results.append(context.desktop.execute(command, shell=step.shell))
            return step.until.met(results[-1]) if step.until else results[-1].returncode == 0

        if not look_again(context.desktop, fulfilled, looks=TRIES - 1 if step.until else 0):
            last = results[-1]
            words = (last.error or last.output).strip()[-500:]
            raise TaskSetupFailed(f"{command!r} ended with exit code {last.returncode}: {words}")


def _filled(command: str | Sequence[str], screen: Screen) -> str | list[str]:
    if not isinstance(command, str):
        return [str(_filled(word, screen)) for word in command]
    values = {"SCREEN_WIDTH": screen.width, "SCREEN_HEIGHT": screen.height}
    values |= {f"{name}_HALF": value // 2 for name, value in values.items()}
    for name, value in values.items():
        command = command.replace("{" + name + "}", str(value))
    return command
