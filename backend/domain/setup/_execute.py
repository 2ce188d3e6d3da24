"""Step type `execute`, also called `command`, in each dialect."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator

from backend.domain.errors import TaskSetupFailed
from backend.domain.loop.polling import look_again
from backend.domain.model.parameters import Parameters
from backend.domain.ports.desktop import ExecResult
from backend.domain.ports.task import SetupContext

TRIES = 5
_PASSWORD = "{CLIENT_PASSWORD}"  # noqa: S105 - a template's name, not a password.
_PUBLISHED = "password"
"""The password of `user` on the desktops that OSWorld's tasks were written for."""
_SHELL_FAILED = frozenset({126, 127})
"""A shell's exit codes for a missing program, or one that cannot run."""


def _with_password(command: str | tuple[str, ...]) -> str | tuple[str, ...]:
    if not "".join(command).strip():
        raise ValueError("the command is empty")
    return command


Command = Annotated[str | tuple[str, ...], AfterValidator(_with_password)]


class _Until(Parameters):
    returncode: int | None = None
    stdout: str | None = None
    stderr: str | None = None

    def met(self, result: ExecResult) -> bool:
        """Any of the conditions is enough, as upstream."""
        return (
            (self.returncode is not None and result.returncode == self.returncode)
            or (self.stdout is not None and self.stdout in result.output)
            or (self.stderr is not None and self.stderr in result.error)
        )


class _Execute(Parameters):
    command: Command
    stdout: str = ""
    stderr: str = ""
    shell: bool = False
    until: _Until | None = None


class ExecuteStep:
    """`command` (a string or a list), `shell`, `stdout`, `stderr`, `until`.

    `{CLIENT_PASSWORD}`, `{SCREEN_WIDTH}`, `{SCREEN_HEIGHT}` and their `_HALF` are replaced. `stdout` and `stderr` name
    what the getter `cache_file` reads. With `until` (`returncode`, `stdout`, `stderr`) it is tried again until one of
    them is met, 5 times at most.

    Attributes:
        any_exit_code: without `until`, only a command that cannot be run fails. Published tasks end programs that may
            not be running and compare files that differ; upstream looks at no exit code. In our own tasks every one
            but 0 is a failure.
    """

    any_exit_code = False

    def check(self, parameters: Mapping[str, Any]) -> None:
        _Execute.parse(parameters)

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        step = _Execute.parse(parameters)
        command = fill_templates(step.command, context)
        results: list[ExecResult] = []

        def fulfilled() -> bool:
            results.append(context.desktop.execute(command, shell=step.shell))
            return step.until.met(results[-1]) if step.until else self._fine(results[-1])

        fine = look_again(context.desktop, fulfilled, looks=TRIES - 1 if step.until else 0)
        _keep(context, step, results[-1])
        if not fine:
            last = results[-1]
            words = (last.error or last.output).strip()[-500:]
            raise TaskSetupFailed(
                f"{_without_password(step.command)} ended with exit code {last.returncode}: {words}",
                code="command_failed",
            )

    def _fine(self, result: ExecResult) -> bool:
        return result.returncode not in _SHELL_FAILED if self.any_exit_code else result.returncode == 0


def _keep(context: SetupContext, step: _Execute, result: ExecResult) -> None:
    for name, text in ((step.stdout, result.output), (step.stderr, result.error)):
        if name:
            context.keep(name, text.encode())


def _without_password(command: str | Sequence[str]) -> str:
    """The command as the task has it: never with the password filled in."""
    return repr(command if isinstance(command, str) else list(command))[:500]


def fill_templates(command: str | Sequence[str], context: SetupContext) -> str | list[str]:
    """The command with its templates filled in."""
    if not isinstance(command, str):
        return [str(fill_templates(word, context)) for word in command]
    screen = context.desktop.screen
    values = {"SCREEN_WIDTH": screen.width, "SCREEN_HEIGHT": screen.height}
    values |= {f"{name}_HALF": value // 2 for name, value in values.items()}
    for name, value in values.items():
        command = command.replace("{" + name + "}", str(value))
    return command.replace(_PASSWORD, _password(context)) if _PASSWORD in command else command


def _password(context: SetupContext) -> str:
    try:
        return context.secret("client_password")
    except TaskSetupFailed:
        return _PUBLISHED
