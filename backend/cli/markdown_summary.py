"""Result of a run as Markdown, for the summary page or a comment of a CI system."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.cli.output import rate
from backend.domain.formats.foreign_text import markdown

Row = Mapping[str, Any]
MOST_ROWS = 20
MOST_CHARACTERS = 300
"""Of a message."""


def markdown_summary(
    run: Row, message: str, server: str, report: Row | None = None, comparison: Row | None = None
) -> str:
    """A heading, the verdict, the rates, the test against a baseline, tasks that became worse, and lost episodes.

    Args:
        run: As the API returns it, with its episodes.
        message: The verdict.
        server: Address of the service, for links.
        report: `GET /runs/{id}/regression`; None without a baseline.
        comparison: `GET /compare` of the baseline and the run; None without a baseline.
    """
    summary = run["summary"]
    rows = {
        "run": _link(run["id"], f"{server}/runs/{run['id']}"),
        "benchmark": markdown(f"{run['benchmark']}, version {run['task_set']['version']}"),
        "configuration": markdown(run["configuration"]["name"]),
        "success rate": rate(summary["success_rate"], summary["success_interval"]),
        "mean score": rate(summary["mean_score"], summary["mean_interval"]),
        "episodes": markdown(summary["counts_text"]),
    }
    if report is not None:
        baseline = _link(report["baseline"], f"{server}/runs/{report['baseline']}")
        rows |= {
            "baseline": f"{baseline} ({markdown(report['baseline_status'])})",
            "comparison": markdown(report["sentence"]),
            "differing conditions": markdown(", ".join(condition["name"] for condition in report["conditions"]))
            or "nothing",
        }
    title = run["name"] or f"{run['configuration']['name']} on {run['benchmark']}"
    parts = [f"## {markdown(title)}", markdown(message), _table(("", ""), list(rows.items()))]
    if comparison is not None:
        page = f"{server}/compare?run={comparison['runs'][0]['id']}&run={run['id']}"
        parts += _changes(comparison, page, server)
    parts += _losses(run, server)
    return "\n\n".join(parts) + "\n\n"


def _changes(comparison: Row, page: str, server: str) -> list[str]:
    """Tasks whose solve rate fell, and how many rose."""
    worse = [task for task in comparison["tasks"] if _change(task) < 0]
    better = sum(_change(task) > 0 for task in comparison["tasks"])
    head = f"### Worse than the baseline: {len(worse)} of {comparison['common_tasks']} tasks ({better} better)"
    rows = [
        [
            _link(task["task"], f"{server}/episodes/{task['results'][1]['episodes'][0]}"),
            *(rate(result["solve_rate"]) for result in task["results"]),
        ]
        for task in worse[:MOST_ROWS]
    ]
    return _list(head, ("task", "baseline", "this run"), rows, len(worse), page)


def _losses(run: Row, server: str) -> list[str]:
    lost = [episode for episode in run["episodes"] if episode["outcome"] == "lost"]
    rows = [
        [
            _link(episode["task"], f"{server}/episodes/{episode['id']}"),
            markdown(str(episode["failure_class"])),
            markdown(str(episode["failure_message"])[:MOST_CHARACTERS]),
        ]
        for episode in lost[:MOST_ROWS]
    ]
    head = f"### Lost to the infrastructure: {len(lost)} episodes"
    return _list(head, ("task", "class", "message"), rows, len(lost), f"{server}/runs/{run['id']}") if lost else []


def _list(head: str, columns: Sequence[str], rows: Sequence[Sequence[str]], number: int, page: str) -> list[str]:
    more = [f"{_link(f'{number - len(rows)} more', page)}"] if number > len(rows) else []
    return [head, *([_table(columns, rows)] if rows else []), *more]


def _change(task: Row) -> float:
    base, other = (float(result["solve_rate"]) for result in task["results"])
    return other - base


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(cells)} |" for cells in (columns, *rows)]
    return "\n".join([lines[0], f"|{'---|' * len(columns)}", *lines[1:]])


def _link(text: str, address: str) -> str:
    return f"[{markdown(text)}](<{address}>)"
