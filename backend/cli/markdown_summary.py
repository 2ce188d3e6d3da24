"""Result of a run as Markdown, for the summary page of a CI system."""

from collections.abc import Mapping
from typing import Any

from backend.cli.output import rate

Row = Mapping[str, Any]


def markdown(run: Row, words: str, report: Row | None = None) -> str:
    """A heading, the verdict, the rates and the test against a baseline.

    Args:
        run: As the API returns it.
        words: The verdict.
        report: `GET /runs/{id}/regression`; None without a baseline.
    """
    summary = run["summary"]
    rows = {
        "run": f"`{run['id']}`",
        "success rate": rate(summary["success_rate"], summary["success_interval"]),
        "mean score": rate(summary["mean_score"], summary["mean_interval"]),
        "episodes": summary["counts_text"],
    }
    if report is not None:
        rows |= {
            "baseline": f"`{report['baseline']}` ({report['baseline_status']})",
            "comparison": report["sentence"],
            "not alike": ", ".join(each["name"] for each in report["conditions"]) or "nothing",
        }
    table = "\n".join(f"| {name} | {_cell(text)} |" for name, text in rows.items())
    title = run["name"] or f"{run['configuration']['name']} on {run['benchmark']}"
    return f"## {_cell(title)}\n\n{_cell(words)}\n\n| | |\n|---|---|\n{table}\n\n"


def _cell(text: str) -> str:
    """The text on one line, so that names cannot break the table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
