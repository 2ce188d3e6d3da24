"""Exit code of a finished run for CI, with the sentence that explains it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.cli.errors import ExitCode

ENDED = ("completed", "cancelled")
TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True)
class ExitReason:
    """Exit code and its reason."""

    code: ExitCode
    message: str


def judge(run: Mapping[str, Any], fail_under: float | None) -> ExitReason:
    """Determines the exit code of an ended run.

    Lost episodes count neither as failed nor as solved. With a threshold they matter only if they could decide: the run
    passes if it does so with all of them unsolved, it misses if it does so with all of them solved; anything between is
    an infrastructure error.

    Args:
        run: The ended run as the API returns it.
        fail_under: Minimum success rate, or None.
    """
    if run["status"] == "cancelled":
        return ExitReason(
            code=ExitCode.INFRASTRUCTURE, message=("The run was cancelled: there is no result to compare.")
        )
    summary = run["summary"]
    counts = summary["counts"]
    scored, lost, solved = counts["scored"], counts["lost"], summary["solved"]
    if scored + lost == 0:
        return ExitReason(code=ExitCode.INFRASTRUCTURE, message=("No episode was scored: nothing could run here."))
    if fail_under is None:
        return _without_threshold(lost)
    lower, upper = solved / (scored + lost), (solved + lost) / (scored + lost)
    if lower >= fail_under - TOLERANCE:
        return ExitReason(
            code=ExitCode.PASSED, message=(f"Passed: success rate at least {lower:.3g}, threshold {fail_under:g}.")
        )
    if upper < fail_under - TOLERANCE:
        message = f"Missed: success rate at most {upper:.3g}, threshold {fail_under:g}."
        return ExitReason(code=ExitCode.THRESHOLD_MISSED, message=message)
    message = (
        f"Undecided: because of {lost} lost episodes the success rate is between {lower:.3g} "
        f"and {upper:.3g}, threshold {fail_under:g}."
    )
    return ExitReason(code=ExitCode.INFRASTRUCTURE, message=message)


def with_regression(reason: ExitReason, report: Mapping[str, Any]) -> ExitReason:
    """The reason, unless it is weaker than what the test against a baseline says.

    Args:
        reason: by `judge`.
        report: `GET /runs/{id}/regression`.
    """
    if reason.code is ExitCode.THRESHOLD_MISSED:
        return reason
    if report["passed"] is False:
        return ExitReason(code=ExitCode.THRESHOLD_MISSED, message=report["sentence"])
    if report["passed"] is None:
        return ExitReason(code=ExitCode.INFRASTRUCTURE, message=report["sentence"])
    return ExitReason(code=reason.code, message=f"{report['sentence']} {reason.message}")


def _without_threshold(lost: int) -> ExitReason:
    if lost:
        return ExitReason(
            code=ExitCode.INFRASTRUCTURE, message=(f"{lost} episodes were lost. Retry them with `deskarena run retry`.")
        )
    return ExitReason(code=ExitCode.PASSED, message="All episodes were scored.")
