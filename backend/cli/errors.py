"""Errors of the command line and their exit codes."""

from enum import IntEnum
from typing import Self


class ExitCode(IntEnum):
    """Exit codes of every `deskarena` command; docs/cli.md explains them."""

    PASSED = 0
    THRESHOLD_MISSED = 1
    USAGE = 2
    INFRASTRUCTURE = 3
    WAIT_TIMED_OUT = 4
    INTERRUPTED = 130


class CliError(Exception):
    """Error with one message, a stable code and an exit code.

    Args:
        message: What happened and what to do next, in complete sentences.
        exit_code: Exit code of the command.
        code: Name of the case; docs/errors.md lists them all.
    """

    exit_code: ExitCode = ExitCode.INFRASTRUCTURE

    def __init__(self, message: str, exit_code: ExitCode | None = None, *, code: str) -> None:
        super().__init__(message)
        self.code = code
        if exit_code is not None:
            self.exit_code = exit_code

    def with_advice(self, advice: str) -> Self:
        """The same error, whose message ends with advice."""
        self.args = (f"{self} {advice}",)
        return self


class UsageError(CliError):
    """The command's arguments are wrong or cannot be used here."""

    exit_code = ExitCode.USAGE


class ServiceAway(CliError):
    """The service does not answer, or not now; the same request may succeed later."""

    retry_after: float = 0.0
    """Seconds that the service asks to wait."""


class StackError(CliError):
    """A part of the embedded stack cannot be started or has failed."""
