"""`deskarena configuration`: who acts, under the name that every page shows."""

from typing import Annotated

import typer

from backend.cli.client import Api
from backend.cli.options import DEFAULT_LIMIT, Limit, OutputForm, Server, an_id
from backend.cli.output import Columns, Output, Row, print_facts, print_object, print_rows
from backend.cli.tables.comparison import show_comparison
from backend.cli.tables.runs import moment

app = typer.Typer(help="List, show, rename and compare configurations.", no_args_is_help=True)
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


@app.command()
def compare(  # noqa: PLR0913, PLR0917 - its options
    configurations: Annotated[
        list[str], typer.Argument(metavar="CONFIGURATION...", help="Ids of 2 to 8; the first one is the base.")
    ],
    benchmark: Annotated[
        str | None, typer.Option("--benchmark", help="Benchmark on which they are compared (default: one with all).")
    ] = None,
    version: Annotated[int | None, typer.Option("--version", min=1, help="Version of its tasks.")] = None,
    conditions: Annotated[
        str | None, typer.Option("--conditions", help="Key of the conditions, as in a board's address.")
    ] = None,
    label: Annotated[str | None, typer.Option("--label", help="Label of the tasks to cut by (in -o json).")] = None,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Compare configurations with all their passes under equal conditions, on their common tasks."""
    with Api(server) as api:
        print_object(
            api.get(
                "/compare",
                configuration=[
                    an_id(configuration, "deskarena configuration list") for configuration in configurations
                ],
                benchmark=benchmark,
                version=version,
                conditions=conditions,
                label=label,
            ),
            output,
            show_comparison,
        )


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
