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
from backend.cli.markdown_summary import markdown_summary
from backend.cli.output import Output, print_object, progress
from backend.cli.tables.runs import show_run
from backend.cli.waiting import WaitLimits, attach, resumable, wait_for_run

ALPHA = 0.05
CANCEL_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True)
class RunChecks:
    """Criteria that an ended run must meet, and files for its result.

    Attributes:
        baseline: Run that it must not score significantly lower than.
        alpha: Probability of a false alarm of that test.
        cancel_on_interrupt: Whether a signal to this command cancels the run.
    """

    junit: Path | None = None
    summary: Path | None = None
    fail_under: float | None = None
    baseline: str | None = None
    alpha: float = ALPHA
    cancel_on_interrupt: bool = False

    @property
    def need_end(self) -> bool:
        """Whether any of them needs the run's end."""
        return any(value is not None for value in (self.junit, self.summary, self.fail_under, self.baseline))


def finish(api: Api, run_id: str, limits: WaitLimits, checks: RunChecks, output: Output) -> None:
    """Waits, prints the run with its episodes and writes the reports.

    Raises:
        typer.Exit: With the result's exit code if it is not 0.
        CliError: There is no result, or no report; says how to watch the run.
    """
    watch = f"Watch the run with `{attach(api, run_id)}`."
    try:
        with resumable(watch):
            wait_for_run(api, run_id, limits, progress)
            api.patience = limits.patience
            verdict = _report(api, run_id, checks, output, watch)
    except CliError as error:
        if error.exit_code is ExitCode.INTERRUPTED and checks.cancel_on_interrupt:
            raise _cancel(api, run_id, watch) from None
        raise
    progress(verdict.message)
    if verdict.code is not ExitCode.PASSED:
        raise typer.Exit(verdict.code)


def _cancel(api: Api, run_id: str, watch: str) -> CliError:
    """Cancels the run; the error says whether that worked."""
    api.patience = 0.0
    try:
        api.post(f"/runs/{run_id}/cancel", seconds=CANCEL_SECONDS)
    except CliError as error:
        message = f"Interrupted. The run could not be cancelled and continues: {error} {watch}"
    else:
        message = f"Interrupted. The run was cancelled. {watch}"
    return CliError(message, ExitCode.INTERRUPTED, code="interrupted")


def _report(api: Api, run_id: str, checks: RunChecks, output: Output, watch: str) -> ExitReason:
    """Prints the ended run and writes its files. `watch`: how to get them again."""
    run = api.get(f"/runs/{run_id}", include="episodes")
    print_object(run, output, show_run)
    report, verdict = _judge_report(api, run, checks)
    try:
        if checks.junit is not None:
            _write(checks.junit, junit_xml(run, run["episodes"], api.server, report), "--junit")
        if checks.summary is not None:
            comparison = None if report is None else _comparison(api, run, report)
            text = markdown_summary(run, verdict.message, api.server, report, comparison)
            _write(checks.summary, text.encode(), "--summary", append=True)
    except UsageError as error:
        raise error.with_advice(watch) from None
    return verdict


def _comparison(api: Api, run: Mapping[str, Any], report: Mapping[str, Any]) -> Mapping[str, Any]:
    """With the baseline, task by task."""
    comparison: Mapping[str, Any] = api.get("/compare", run=[report["baseline"], run["id"]])
    return comparison


def _judge_report(api: Api, run: Mapping[str, Any], checks: RunChecks) -> tuple[Mapping[str, Any] | None, ExitReason]:
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
