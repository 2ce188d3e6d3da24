"""Waits for a run's end, prints it, writes the JUnit file and exits by the result."""

from pathlib import Path

import typer

from backend.cli.client import Api
from backend.cli.errors import CliError, ExitCode, UsageError
from backend.cli.exit_code import judge
from backend.cli.junit import junit_xml
from backend.cli.output import Output, print_object, progress
from backend.cli.tables.runs import show_run
from backend.cli.waiting import attach, wait_for_run


def finish(  # noqa: PLR0913, PLR0917  what the options of two commands say
    api: Api, run_id: str, timeout: float | None, junit: Path | None, fail_under: float | None, output: Output
) -> None:
    """Waits, prints the run with its episodes and writes the JUnit file.

    Raises:
        typer.Exit: With the result's exit code if it is not 0.
        CliError: The wait was interrupted; the run continues.
    """
    try:
        wait_for_run(api, run_id, timeout, progress)
    except KeyboardInterrupt:
        message = f"Interrupted; the run continues. Watch it with `{attach(api, run_id)}`."
        raise CliError(message, ExitCode.INTERRUPTED, code="interrupted") from None
    run = api.get(f"/runs/{run_id}", include="episodes")
    print_object(run, output, show_run)
    if junit is not None:
        try:
            junit.write_bytes(junit_xml(run, run["episodes"]))
        except OSError as error:
            raise UsageError(
                f"--junit {junit} cannot be written: {error.strerror}.", code="file_not_writable"
            ) from None
    verdict = judge(run, fail_under)
    progress(verdict.words)
    if verdict.code is not ExitCode.PASSED:
        raise typer.Exit(verdict.code)
