"""`deskarena demonstrations`: import sets of recorded steps, make them of runs, list them."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from backend.cli.client import Api
from backend.cli.commands.benchmark import zip_folder
from backend.cli.errors import UsageError
from backend.cli.options import DEFAULT_LIMIT, Limit, OutputForm, RunId, Server
from backend.cli.output import Output, print_facts, print_object, print_rows
from backend.cli.tables.studies import SETS, set_facts
from backend.domain.model.demonstration import SetForm

app = typer.Typer(help="Manage sets of recorded steps with their correct actions.", no_args_is_help=True)
SetName = Annotated[str, typer.Option("--name", help="Name of the set.")]
Source = Annotated[str, typer.Option("--source", help="Source and licence of the set.")]


@app.command("import")
def import_set(  # noqa: PLR0913, PLR0917  a command has as many options as it has
    form: Annotated[
        SetForm,
        typer.Argument(metavar="FORM", help="Format of the files: deskarena, mind2web, android_control or omniact."),
    ],
    path: Annotated[Path, typer.Argument(metavar="PATH", help="Folder or zip file.")],
    name: SetName,
    source: Source = "",
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Import a set of demonstrations."""
    if not path.exists():
        raise UsageError(f"{path} does not exist.", code="path_not_found")
    fields = {"form": form.value, "name": name, "source": source}
    with Api(server) as api, tempfile.TemporaryDirectory(prefix="deskarena-import-") as folder:
        archive = path if path.is_file() else zip_folder(path, Path(folder) / "files.zip")
        result = api.upload("/demonstrations", fields, archive.name, archive)
    print_object(result, output, lambda row: print_facts(set_facts(row)))


@app.command("from-run")
def from_run(  # noqa: PLR0913, PLR0917  a command has as many options as it has
    run: RunId,
    name: SetName,
    least_score: Annotated[
        float, typer.Option("--least-score", min=0, max=1, help="Minimum score of an episode.")
    ] = 1.0,
    source: Source = "",
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Make a set of the trajectories of a run."""
    body = {"run": run, "name": name, "least_score": least_score, "source": source}
    with Api(server) as api:
        print_object(api.post("/demonstrations/from-run", body), output, lambda row: print_facts(set_facts(row)))


@app.command("list")
def list_sets(limit: Limit = DEFAULT_LIMIT, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """List sets, newest first."""
    with Api(server) as api:
        empty = "No demonstrations. Import a set with `deskarena demonstrations import FORM PATH --name NAME`."
        print_rows(api.items("/demonstrations", limit), output, SETS, empty=empty)
