"""`deskarena leaderboard`: who is better on a benchmark, and where."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from backend.cli.client import Api
from backend.cli.options import OutputForm, Server
from backend.cli.output import Columns, Output, Row, print_object, print_table, rate

app = typer.Typer(help="Show leaderboards, and cut them by labels of the tasks.", no_args_is_help=True)
Benchmark = Annotated[str, typer.Argument(metavar="BENCHMARK", help="Benchmark name.")]
Version = Annotated[
    int | None, typer.Option("--version", min=1, help="Version of its tasks (default: the newest with runs).")
]
BOARD: Columns = {
    "rank": lambda row: row["rank"],
    "ranks": lambda row: None if row["rank"] is None else f"{row['best_rank']} to {row['worst_rank']}",
    "configuration": lambda row: row["configuration"]["name"],
    "primary": lambda row: row["primary"] and rate(row["primary"]["mean"], row["primary"]["interval"]),
    "if lost = 0": lambda row: rate(row["lower_bound"]) if row["summary"]["counts"]["lost"] else None,
    "success rate": lambda row: rate(row["summary"]["success_rate"], row["summary"]["success_interval"]),
    "passes": lambda row: row["passes"] and row["passes"]["number"],
    "pass@k": lambda row: _passes(row, "at"),
    "pass^k": lambda row: _passes(row, "hat"),
    "episodes": lambda row: row["summary"]["counts"]["scored"],
    "not ranked": lambda row: "; ".join(reason["text"] for reason in row["reasons"]) or None,
}
CELLS: Columns = {
    "configuration": lambda row: row["configuration"]["name"],
    "value": lambda row: row["value"],
    "mean score": lambda row: rate(row["mean_score"], row["mean_interval"]),
    "success rate": lambda row: rate(row["success_rate"], row["success_interval"]),
    "tasks": lambda row: row["scored_tasks"],
    "episodes": lambda row: row["counts"]["scored"],
    "not ranked": lambda row: "; ".join(reason["text"] for reason in row["reasons"]) or None,
}


@app.command()
def show(  # noqa: PLR0913, PLR0917 - its options
    benchmark: Benchmark,
    version: Version = None,
    conditions: Annotated[
        str | None, typer.Option("--conditions", help="Key of the conditions of ranked rows, as in -o json.")
    ] = None,
    common: Annotated[bool, typer.Option("--common", help="Rank on the tasks that all rows share.")] = False,  # noqa: FBT002 - a flag
    imported: Annotated[bool, typer.Option("--imported", help="Rank imported results, too.")] = False,  # noqa: FBT002 - a flag
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Show a leaderboard: ranked rows, and the others with their reasons."""
    with Api(server) as api:
        board = api.get(
            f"/leaderboards/{benchmark}", version=version, conditions=conditions, common=common, imported=imported
        )
        print_object(board, output, show_board)


@app.command()
def cut(
    benchmark: Benchmark,
    label: Annotated[str, typer.Argument(metavar="LABEL", help="Label of the tasks, such as level.")],
    version: Version = None,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Cut a leaderboard by a label of its tasks."""
    with Api(server) as api:
        print_object(api.get(f"/leaderboards/{benchmark}/cut", label=label, version=version), output, show_cut)


def show_board(board: Row) -> None:
    """Prints what is ranked, under which conditions, and the rows."""
    tasks = board["tasks"] if board["common_tasks"] is None else board["common_tasks"]
    words = "tasks" if board["common_tasks"] is None else "common tasks"
    print(f"{board['benchmark']} v{board['task_set']['version']}: {tasks} {words}, ranked by {board['primary']}")
    if board["conditions"]:
        print(f"conditions: {board['conditions']['text']}")
    if board["rows"]:
        print_table(board["rows"], BOARD)
    else:
        print("No runs yet.")


def show_cut(cut_of_board: Row) -> None:
    """Prints one line per configuration and value."""
    if rows := list(_cells(cut_of_board)):
        print_table(rows, CELLS)
    else:
        print("No results yet.")


def _cells(cut_of_board: Row) -> Iterator[dict[str, Any]]:
    for row in cut_of_board["rows"]:
        for value in cut_of_board["values"]:
            if cell := row["cells"].get(value):
                names = {name: row[name] for name in ("configuration", "reasons")}
                yield {**names, "value": value, **cell["summary"]}


def _passes(row: Row, name: str) -> str | None:
    """The estimate for the largest k, as `k = 3: 56.0 % (36.2-74.1)`; None for one pass."""
    rates = row["passes"]["rates"] if row["passes"] and row["passes"]["number"] > 1 else []
    return f"k = {rates[-1]['k']}: {rate(rates[-1][name], rates[-1][f'{name}_interval'])}" if rates else None
