"""Results of an agent's code on the desktop: the report for the agent, and which steps count as failed."""

from collections.abc import Mapping, Sequence
from typing import Any

LINES = 8
LONGEST = 1_500
"""Most lines and characters of an output that an agent is shown: its end says what went wrong."""
LONGEST_LINE = 300
UNTYPED = "deskarena:"
"""First words of each report that the desktop's keyboard writes to standard error."""
TIMEOUT = "timeout"
"""Kind of the guest's refusal where code did not end in time."""
MOST_OUTPUT = 100_000
"""Characters of each stream of an agent's code that it gets and the step records."""
CONTENT = "data"
"""Key of a file's content in a result: for the agent only, records have its size and hash."""


def code_failed(results: Sequence[Mapping[str, Any]]) -> bool:
    """Whether code of a step raised, did not end in time, or had text or keys that could not be typed.

    Args:
        results: of the step's actions, as it records them.
    """
    return any(_failed(result) for result in results)


def _failed(result: Mapping[str, Any]) -> bool:
    if "returncode" not in result:
        return result.get("kind") == TIMEOUT
    return result["returncode"] != 0 or any(line.startswith(UNTYPED) for line in _error(result).splitlines())


def code_failure(results: Sequence[Mapping[str, Any]]) -> str:
    """The last line of the first failed code's error, at most `LONGEST_LINE` characters; empty if none failed."""
    for result in results:
        if _failed(result):
            lines = [line for line in map(str.strip, _error(result).splitlines()) if line]
            return (lines[-1] if lines else f"exit code {result.get('returncode')}")[:LONGEST_LINE]
    return ""


def refusal(results: Sequence[Mapping[str, Any]]) -> str:
    """Why an action was not carried out: no such key, a point off the screen; empty if each was, or its code failed."""
    reasons = (_error(result) for result in results if "returncode" not in result and not _failed(result))
    return next(filter(None, reasons), "")[:LONGEST_LINE]


def code_timed_out(results: Sequence[Mapping[str, Any]]) -> bool:
    """Whether code of a step was ended because it took too long."""
    return any(result.get("kind") == TIMEOUT for result in results)


def code_report(results: Sequence[Mapping[str, Any]]) -> str:
    """For the agent: the last lines that its code wrote to standard error, or its exit code; empty if all went well."""
    return "\n".join(filter(None, map(_report, results)))


def _report(result: Mapping[str, Any]) -> str:
    if "returncode" not in result:
        return f"Your code failed: {_error(result)}" if result.get("kind") == TIMEOUT else ""
    end = "\n".join(_error(result).strip().splitlines()[-LINES:])[-LONGEST:]
    if result["returncode"] != 0:
        return f"Your code failed:\n{end}" if end else f"Your code failed with exit code {result['returncode']}."
    return f"Your code wrote to standard error:\n{end}" if end else ""


def _error(result: Mapping[str, Any]) -> str:
    return str(result.get("error") or "")


def to_record(results: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The results as a step records them: without the content of files."""
    return [{name: value for name, value in result.items() if name != CONTENT} for result in results]
