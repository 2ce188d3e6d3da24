"""`deskarena configuration`: who acts, under the name that every page shows."""

from typing import Annotated

import typer

from backend.cli.client import Api
from backend.cli.options import DEFAULT_LIMIT, Limit, OutputForm, Server
from backend.cli.output import Columns, Output, Row, print_facts, print_object, print_rows
from backend.cli.tables.runs import moment

app = typer.Typer(help="List, show and rename configurations.", no_args_is_help=True)
ConfigurationId = Annotated[str, typer.Argument(metavar="CONFIGURATION", help="Configuration id.")]
CONFIGURATIONS: Columns = {
    "configuration": lambda row: row["id"],
    "name": lambda row: row["name"],
    "agent": lambda row: row["agent"],
    "runs": lambda row: row["runs"],
    "newest run": lambda row: moment(row["newest_run_at"]),
}


@app.command("list")
def list_configurations(
    search: Annotated[str, typer.Option("--search", help="Part of a name, an agent or a model.")] = "",
    limit: Limit = DEFAULT_LIMIT,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """List configurations, newest first."""
    with Api(server) as api:
        rows = api.items("/configurations", limit, q=search or None)
        print_rows(rows, output, CONFIGURATIONS, empty="No configurations.")


@app.command()
def show(configuration: ConfigurationId, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Show what defines a configuration."""
    with Api(server) as api:
        print_object(api.get(f"/configurations/{configuration}"), output, show_configuration)


@app.command()
def rename(
    configuration: ConfigurationId,
    name: Annotated[str, typer.Argument(metavar="NAME", help="New name; an empty one restores the default.")],
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Rename a configuration, on every page at once. Results are unaffected."""
    with Api(server) as api:
        row = api.patch(f"/configurations/{configuration}", {"name": name})
        print_object(row, output, show_configuration)


def show_configuration(row: Row) -> None:
    """Prints a configuration's facts, one part of its definition per line."""
    definition = {name: value for name, value in row["definition"].items() if value and name != "agent"}
    print_facts(
        {
            "configuration": row["id"],
            "name": row["name"],
            "default name": row["default_name"],
            "agent": row["agent"],
            **definition,
            "runs": row["runs"],
            "newest run": moment(row["newest_run_at"]),
        }
    )
