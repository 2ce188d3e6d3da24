"""`deskarena quarantine`: set wrong tasks aside, and take them back."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from backend.cli.client import Api
from backend.cli.errors import UsageError
from backend.cli.options import OutputForm, Server
from backend.cli.output import Columns, Output, print_object, print_rows

app = typer.Typer(help="Put faulty tasks in quarantine, and take them out again.", no_args_is_help=True)


def _results(row: Mapping[str, Any]) -> str:
    episodes, runs = row["episodes"], row["runs"]
    if not episodes:
        return "no results yet"
    return f"{episodes} episode{'s' * (episodes > 1)} of {runs} run{'s' * (runs > 1)}"


ENTRIES: Columns = {
    "benchmark": lambda row: f"{row['benchmark']} v{row['version']}",
    "task": lambda row: row["task"],
    "reason": lambda row: row["reason"],
    "by": lambda row: row["set_by"],
    "since": lambda row: row["created_at"],
    "not counted": _results,
}
Benchmark = Annotated[str, typer.Argument(metavar="BENCHMARK", help="Benchmark name.")]
TaskKey = Annotated[str, typer.Argument(metavar="TASK", help="Task as domain/name, in the newest version.")]
By = Annotated[str, typer.Option("--by", envvar="DESKARENA_PERSON", help="Your name (default: `local`).")]


@app.command("list")
def list_quarantine(
    benchmark: Annotated[str | None, typer.Option("--benchmark", help="Only tasks of this benchmark.")] = None,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """List quarantined tasks, newest first."""
    with Api(server) as api:
        print_rows(api.items("/quarantine", benchmark=benchmark), output, ENTRIES, empty="No task is quarantined.")


@app.command("set")
def set_quarantine(  # noqa: PLR0913 - a command has as many options as it has
    benchmark: Benchmark,
    task: TaskKey,
    reason: Annotated[str, typer.Option("--reason", help="Why the task is wrong.")],
    *,
    by: By = "",
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Quarantine a task: new runs leave it out, and its stored scores stop counting."""
    with Api(server) as api:
        row = api.post(f"/tasks/{_task_id(api, benchmark, task)}/quarantine", {"reason": reason, "by": by})
    print_object(row, output, lambda row: print(f"{row['task']} is quarantined; not counted: {_results(row)}"))


@app.command("lift")
def lift_quarantine(  # noqa: PLR0913 - a command has as many options as it has
    benchmark: Benchmark,
    task: TaskKey,
    reason: Annotated[str, typer.Option("--reason", help="What was repaired, or why the task is correct.")],
    *,
    by: By = "",
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Lift a task's quarantine: its stored scores count again."""
    with Api(server) as api:
        row = api.post(f"/tasks/{_task_id(api, benchmark, task)}/quarantine/lift", {"reason": reason, "by": by})
    print_object(row, output, lambda row: print(f"{row['task']} is back; counted again: {_results(row)}"))


def _task_id(api: Api, benchmark: str, key: str) -> str:
    domain, _, name = key.partition("/")
    for row in api.items(f"/benchmarks/{benchmark}/tasks", domain=domain, q=name):
        if row["task"] == key:
            return str(row["id"])
    raise UsageError(
        f"{benchmark} has no task {key!r}. Its page /benchmarks/{benchmark} lists the tasks.", code="unknown_task_key"
    )
