"""`deskarena maintenance`: nothing starts meanwhile."""

from typing import Annotated

import typer

from backend.cli.client import Api
from backend.cli.options import OutputForm, Server
from backend.cli.output import Output, Row, print_object
from backend.cli.tables.runs import moment

app = typer.Typer(
    help="Turn maintenance mode on and off: nothing new starts, and running episodes finish.", no_args_is_help=True
)


@app.command()
def on(
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Reason, shown to everyone.")],
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Turn it on, or change the reason: new work is refused, waiting episodes wait, running ones finish."""
    with Api(server) as api:
        print_object(api.put("/maintenance", {"reason": reason}), output, _show)


@app.command()
def off(output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Turn it off: waiting episodes start."""
    with Api(server) as api:
        print_object(api.delete("/maintenance"), output, _show)


@app.command()
def show(output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Show whether it is on."""
    with Api(server) as api:
        print_object(api.get("/maintenance"), output, _show)


def _show(row: Row) -> None:
    since = moment(row["started_at"])
    print(f"maintenance since {since} by {row['started_by']}: {row['reason']}" if row["on"] else "off")
