"""Waits for a run's end, prints it, writes reports and exits by the result."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from backend.cli.client import Api
from backend.cli.errors import CliError, ExitCode, UsageError
from backend.cli.exit_code import ExitReason, judge, with_regression
from backend.cli.junit import junit_xml
from backend.cli.markdown_summary import markdown
from backend.cli.output import Output, print_object, progress
from backend.cli.tables.runs import show_run
from backend.cli.waiting import attach, wait_for_run

ALPHA = 0.05


@dataclass(frozen=True, kw_only=True)
class RunChecks:
    """What an ended run has to meet, and where its result is written.

    Attributes:
        baseline: Run that it must not score significantly lower than.
        alpha: Probability of a false alarm of that test.
    """

    junit: Path | None = None
    summary: Path | None = None
    fail_under: float | None = None
    baseline: str | None = None
    alpha: float = ALPHA

    @property
    def need_end(self) -> bool:
        """Whether any of them needs the run's end."""
        return any(value is not None for value in (self.junit, self.summary, self.fail_under, self.baseline))


def finish(api: Api, run_id: str, timeout: float | None, checks: RunChecks, output: Output) -> None:
    """Waits, prints the run with its episodes and writes the reports.

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
    report, verdict = _judged(api, run, checks)
    if checks.junit is not None:
        _write(checks.junit, junit_xml(run, run["episodes"], report), "--junit")
    if checks.summary is not None:
        _write(checks.summary, markdown(run, verdict.message, report).encode(), "--summary", append=True)
    progress(verdict.message)
    if verdict.code is not ExitCode.PASSED:
        raise typer.Exit(verdict.code)


def _judged(api: Api, run: Mapping[str, Any], checks: RunChecks) -> tuple[Mapping[str, Any] | None, ExitReason]:
    """The report against the baseline, if there is one, and the verdict."""
    verdict = judge(run, checks.fail_under)
    if checks.baseline is None:
        return None, verdict
    report = api.get(f"/runs/{run['id']}/regression", baseline=checks.baseline, alpha=checks.alpha)
    return report, with_regression(verdict, report)


def _write(file: Path, data: bytes, option: str, *, append: bool = False) -> None:
    """Writes a report. Raises UsageError."""
    try:
        with file.open("ab" if append else "wb") as stream:
            stream.write(data)
    except OSError as error:
        raise UsageError(f"{option} {file} cannot be written: {error.strerror}.", code="file_not_writable") from None
