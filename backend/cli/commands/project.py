"""`deskarena project`: each project's share of slots."""

from typing import Annotated, Any

import typer

from backend.cli.client import Api
from backend.cli.errors import UsageError
from backend.cli.options import OutputForm, Server
from backend.cli.output import Columns, Output, print_rows
from backend.domain.errors import Invalid
from backend.domain.scheduling.projects import numbers_text, read

app = typer.Typer(help="Manage each project's share of slots.", no_args_is_help=True)
PROJECTS: Columns = {
    "project": lambda row: row["name"],
    "weight": lambda row: f"{row['weight']:g}",
    "quota": lambda row: numbers_text(row["quota"]) or "none",
    "reserved": lambda row: numbers_text(row["reserved"]) or "none",
    "in use": lambda row: numbers_text(row["in_use"]) or "nothing",
}


@app.callback()
def group() -> None:
    """Manage each project's share of slots."""


@app.command("list")
def list_projects(output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """List projects with their weights, quotas, reserved slots and running desktops."""
    with Api(server) as api:
        print_rows(api.items("/projects"), output, PROJECTS, empty="No projects.")


@app.command("set")
def set_project(  # noqa: PLR0913, PLR0917  a command has as many options as it has
    name: Annotated[str, typer.Argument(metavar="NAME", help="Project name.")],
    weight: Annotated[
        float | None,
        typer.Option(
            "--weight", min=0.01, max=1000, help=("Relative share of slots; weight 2 gets twice as many as weight 1.")
        ),
    ] = None,
    quota: Annotated[
        str | None,
        typer.Option(
            "--quota",
            metavar="P=N,...",
            help=("Maximum desktops in parallel, such as all=12,k8s=8; '' removes the quota."),
        ),
    ] = None,
    reserved: Annotated[
        str | None,
        typer.Option(
            "--reserved",
            metavar="P=N,...",
            help=("Slots reserved for the project's interactive episodes; '' removes them."),
        ),
    ] = None,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Change a project's share of slots, from the next episode on. Options that are left out keep their value."""
    body: dict[str, Any] = {} if weight is None else {"weight": weight}
    try:
        body |= {} if quota is None else {"quota": read(quota, "quota")}
        body |= {} if reserved is None else {"reserved": read(reserved, "reserved")}
    except Invalid as error:
        raise UsageError(f"--{error}", code=error.code) from None
    if not body:
        raise UsageError("Nothing to change. Give --weight, --quota or --reserved.", code="option_missing")
    with Api(server) as api:
        print_rows([api.patch(f"/projects/{name}", body)], output, PROJECTS)
