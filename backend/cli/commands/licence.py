"""`deskarena licence`: how many seats of each licence this installation has."""

from typing import Annotated

import typer

from backend.cli.client import Api
from backend.cli.options import OutputForm, Server
from backend.cli.output import Columns, Output, print_object, print_rows

app = typer.Typer(help="Set how many seats of a licence there are.", no_args_is_help=True)
LICENCES: Columns = {
    "licence": lambda row: row["name"],
    "seats": lambda row: row["seats"],
    "in use": lambda row: row["used"],
    "tasks": lambda row: row["tasks"],
}


@app.callback()
def group() -> None:
    """Set how many seats of a licence there are."""


@app.command("list")
def list_licences(output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """List licences with their seats, how many are in use, and how many tasks need them."""
    with Api(server) as api:
        print_rows(api.items("/licences"), output, LICENCES, empty="no licence is set up, and no task needs one")


@app.command("set")
def set_licence(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The licence as tasks name it, for example Photoshop.")],
    seats: Annotated[int, typer.Argument(metavar="SEATS", min=0, help="How many attempts may use it at once.")],
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Set how many seats of a licence there are."""
    with Api(server) as api:
        result = api.post("/licences", {"name": name, "seats": seats})
    print_object(result, output, lambda row: print(f"{row['name']}: {row['seats']} seats, {row['used']} in use"))
