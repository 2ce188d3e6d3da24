"""`deskarena delete`: runs, studies, configurations, drafts and benchmarks, with what hangs on them."""

import sys
from typing import Annotated
from urllib.parse import quote

import typer

from backend.cli.client import Api
from backend.cli.errors import UsageError
from backend.cli.options import DEFAULT_LIMIT, Limit, OutputForm, RunId, Server, an_id
from backend.cli.output import Columns, Output, Row, print_object, print_rows
from backend.cli.tables.runs import moment

app = typer.Typer(help="Delete runs, studies, configurations, drafts and benchmarks.", no_args_is_help=True)
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]
StudyId = Annotated[
    str, typer.Argument(metavar="STUDY", help="Study id.", callback=lambda text: an_id(text, "deskarena study list"))
]
ConfigurationId = Annotated[
    str,
    typer.Argument(
        metavar="CONFIGURATION",
        help="Configuration id.",
        callback=lambda text: an_id(text, "deskarena configuration list"),
    ),
]
DraftId = Annotated[
    str, typer.Argument(metavar="DRAFT", help="Draft id.", callback=lambda text: an_id(text, "deskarena task list"))
]
DELETIONS: Columns = {
    "deletion": lambda row: row["id"],
    "kind": lambda row: row["kind"],
    "name": lambda row: row["name"],
    "state": lambda row: "removed" if row["finished_at"] else "removing",
    "by": lambda row: row["requested_by"],
    "when": lambda row: moment(row["created_at"]),
    "rows": lambda row: sum(row["removed"].values()),
}


@app.command("run")
def delete_run(run: RunId, yes: Yes = False, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Delete an ended run with its episodes and trajectories."""
    _delete(f"/runs/{run}", f"run {run}", yes=yes, output=output, server=server)


@app.command("study")
def delete_study(study: StudyId, yes: Yes = False, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Delete a study with its runs."""
    _delete(f"/studies/{study}", f"study {study} and its runs", yes=yes, output=output, server=server)


@app.command("configuration")
def delete_configuration(
    configuration: ConfigurationId, yes: Yes = False, output: OutputForm = Output.TABLE, server: Server = None
) -> None:
    """Delete a configuration with its runs."""
    subject = f"configuration {configuration} and its runs"
    _delete(f"/configurations/{configuration}", subject, yes=yes, output=output, server=server)


@app.command("draft")
def delete_draft(draft: DraftId, yes: Yes = False, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Delete a task draft with its recordings and trials. A published task stays."""
    _delete(f"/drafts/{draft}", f"draft {draft}", yes=yes, output=output, server=server)


@app.command("benchmark")
def delete_benchmark(
    name: Annotated[str, typer.Argument(metavar="BENCHMARK", help="Name of the benchmark.")],
    yes: Yes = False,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Delete a benchmark with all its versions, and the runs and studies on them."""
    subject = f"benchmark {name} with its runs and studies"
    _delete(f"/benchmarks/{quote(name, safe='')}", subject, yes=yes, output=output, server=server)


@app.command("list")
def list_deletions(limit: Limit = DEFAULT_LIMIT, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """List what was deleted, newest first."""
    with Api(server) as api:
        print_rows(api.items("/deletions", limit), output, DELETIONS, empty="Nothing was deleted.")


def _delete(path: str, subject: str, *, yes: bool, output: Output, server: str | None) -> None:
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError("There is no terminal to ask for confirmation. Add --yes.", code="option_missing")
        typer.confirm(f"Delete {subject}? This cannot be undone.", abort=True, err=True)
    with Api(server) as api:
        print_object(api.delete(path), output, _show)


def _show(row: Row) -> None:
    print(f"{row['kind']} {row['name']} is deleted; its rows are being removed (deletion {row['id']})")
