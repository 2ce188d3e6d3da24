"""What a finished run means for a CI job: the exit code, and the sentence that explains it."""

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
    words: str


def judge(run: Mapping[str, Any], fail_under: float | None) -> ExitReason:
    """Judge an ended run.

    Lost episodes are no failures of the agent, and no passes. With a threshold, they matter only if they could decide:
    a rate that passes with all of them counted as unsolved has passed, one that misses with all counted as solved has
    missed; anything between is infrastructure.

    Args:
        run: The run as the API gives it, ended.
        fail_under: The least success rate, or None.
    """
    if run["status"] == "cancelled":
        return ExitReason(code=ExitCode.INFRASTRUCTURE, words="The run was cancelled: there is nothing to compare.")
    summary = run["summary"]
    counts = summary["counts"]
    scored, lost, solved = counts["scored"], counts["lost"], summary["solved"]
    if scored + lost == 0:
        return ExitReason(code=ExitCode.INFRASTRUCTURE, words="No episode was scored: nothing could run here.")
    if fail_under is None:
        return _without_threshold(lost)
    lower, upper = solved / (scored + lost), (solved + lost) / (scored + lost)
    if lower >= fail_under - TOLERANCE:
        return ExitReason(
            code=ExitCode.PASSED, words=f"Passed: success rate at least {lower:.3g}, asked for {fail_under:g}."
        )
    if upper < fail_under - TOLERANCE:
        words = f"Missed: success rate at most {upper:.3g}, asked for {fail_under:g}."
        return ExitReason(code=ExitCode.THRESHOLD_MISSED, words=words)
    words = (
        f"Not comparable: {lost} lost episodes decide whether the rate ({lower:.3g} to {upper:.3g}) is {fail_under:g}."
    )
    return ExitReason(code=ExitCode.INFRASTRUCTURE, words=words)


def _without_threshold(lost: int) -> ExitReason:
    if lost:
        return ExitReason(
            code=ExitCode.INFRASTRUCTURE, words=f"{lost} episodes were lost; `deskarena run retry` tries them again."
        )
    return ExitReason(code=ExitCode.PASSED, words="All episodes were scored.")
