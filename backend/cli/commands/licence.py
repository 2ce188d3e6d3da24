"""`deskarena licence`: seats of each licence."""

from typing import Annotated

import typer

from backend.cli.client import Api
from backend.cli.options import OutputForm, Server
from backend.cli.output import Columns, Output, print_object, print_rows

app = typer.Typer(help="Manage licence seats.", no_args_is_help=True)
LICENCES: Columns = {
    "licence": lambda row: row["name"],
    "seats": lambda row: row["seats"],
    "in use": lambda row: row["used"],
    "tasks": lambda row: row["tasks"],
}


@app.callback()
def group() -> None:
    """Manage licence seats."""


@app.command("list")
def list_licences(output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """List licences with their seats, seats in use, and the number of tasks that need them."""
    with Api(server) as api:
        print_rows(
            api.items("/licences"), output, LICENCES, empty=("No licences are configured, and no task needs one.")
        )


@app.command("set")
def set_licence(
    name: Annotated[str, typer.Argument(metavar="NAME", help=("Licence name as used in tasks, such as Photoshop."))],
    seats: Annotated[
        int, typer.Argument(metavar="SEATS", min=0, help=("Maximum attempts that may use it in parallel."))
    ],
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Set the number of seats of a licence."""
    with Api(server) as api:
        result = api.post("/licences", {"name": name, "seats": seats})
    print_object(result, output, lambda row: print(f"{row['name']}: {row['seats']} seats, {row['used']} in use"))
