"""`deskarena plugin`: the plug-ins that tasks can use."""

from enum import StrEnum
from typing import Annotated

import typer

from backend.cli.client import Api
from backend.cli.options import OutputForm, Server
from backend.cli.output import Output, print_rows
from backend.cli.tables.drafts import FORMS

app = typer.Typer(help="List the set-up steps, getters and metrics that tasks can use.", no_args_is_help=True)


class Kind(StrEnum):
    """Kinds of plug-ins that a task names."""

    SETUP = "setup"
    GETTER = "getter"
    METRIC = "metric"


@app.callback()
def group() -> None:
    """Keeps `list` a subcommand while it is the only one."""


@app.command("list")
def list_plugins(
    kind: Annotated[Kind, typer.Argument(help="Kind of plug-in.")],
    name: Annotated[str | None, typer.Option("--name", help="Only the plug-in of this name.")] = None,
    dialect: Annotated[str, typer.Option("--dialect", help="Benchmark format that defines the names.")] = "starter",
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """List set-up steps, getters or metrics with their parameters."""
    with Api(server) as api:
        rows = api.get(f"/plugins/{kind.value}", name=name, dialect=dialect)["items"]
    print_rows(rows, output, FORMS)
