"""Tables for the comparison of runs."""

import json
from collections.abc import Mapping
from typing import Any

from backend.cli.output import Columns, plain, print_table, rate

Row = Mapping[str, Any]
MOST_TASKS = 40

RUNS: Columns = {
    "run": lambda run: run["id"],
    "name": lambda run: run["title"],
    "status": lambda run: run["status"],
    "success rate": lambda run: rate(run["success_rate"], run["success_interval"]),
    "mean score": lambda run: rate(run["mean_score"], run["mean_interval"]),
    "lost": lambda run: run["lost"],
}
DIFFERENCES: Columns = {
    "run": lambda row: row["run"],
    "better": lambda row: row["better"],
    "worse": lambda row: row["worse"],
    "both solved": lambda row: row["both_solved"],
    "p adjusted": lambda row: row["p_adjusted"],
    "detectable, points": lambda row: None if row["detectable"] is None else f"{row['detectable'] * 100:.1f}",
    "steps": lambda row: change(row, "steps"),
    "seconds": lambda row: change(row, "seconds"),
    "USD": lambda row: change(row, "usd"),
}
FIELDS: Columns = {
    "field": lambda row: row["name"],
    "values": lambda row: "; ".join(value if isinstance(value, str) else json.dumps(value) for value in row["values"]),
}
TASKS: Columns = {
    "task": lambda row: row["task"],
    "scores": lambda row: "  ".join(plain(result["score"]) for result in row["results"]),
}


def change(row: Row, name: str) -> str | None:
    """A mean difference with its sign; None where it is unknown."""
    cost = row["costs"].get(name)
    return None if cost is None else f"{cost['value']:+.3g}"


def show_comparison(comparison: Row) -> None:
    """Prints differing conditions, the sentences and the tables, with the tasks whose solve rates differ."""
    if comparison["conditions"]:
        print("Differing conditions:")
        print_table(comparison["conditions"], FIELDS)
        print()
    for row in comparison["differences"]:
        print(f"{row['sentence']}.")
    if not comparison["differences"]:
        print("No task is scored in every run.")
    for reason, number in comparison["left_out"].items():
        print(f"{number} {'task' if number == 1 else 'tasks'} left out: {reason}.")
    flipped = [row for row in comparison["tasks"] if row["flipped"]]
    tables = (
        (comparison["runs"], RUNS),
        (comparison["differences"], DIFFERENCES),
        (comparison["configurations"], FIELDS),
        (flipped[:MOST_TASKS], TASKS),
    )
    for rows, columns in tables:
        if rows:
            print()
            print_table(rows, columns)
    if len(flipped) > MOST_TASKS:
        print(f"{len(flipped) - MOST_TASKS} more tasks differ; -o json lists all.")
