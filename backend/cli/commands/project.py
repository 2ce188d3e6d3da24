"""`deskarena project`: how projects share in the slots."""

from typing import Annotated, Any

import typer

from backend.cli.client import Api
from backend.cli.errors import UsageError
from backend.cli.options import OutputForm, Server
from backend.cli.output import Columns, Output, print_rows
from backend.domain.errors import Invalid
from backend.domain.scheduling.projects import numbers_text, read

app = typer.Typer(help="Share the slots among projects.", no_args_is_help=True)
PROJECTS: Columns = {
    "project": lambda row: row["name"],
    "weight": lambda row: f"{row['weight']:g}",
    "quota": lambda row: numbers_text(row["quota"]) or "none",
    "reserved": lambda row: numbers_text(row["reserved"]) or "none",
    "in use": lambda row: numbers_text(row["in_use"]) or "nothing",
}


@app.callback()
def group() -> None:
    """Share the slots among projects."""


@app.command("list")
def list_projects(output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """List projects with their weights, quotas, reserved slots, and the desktops they have."""
    with Api(server) as api:
        print_rows(api.items("/projects"), output, PROJECTS, empty="there is no project")


@app.command("set")
def set_project(  # noqa: PLR0913, PLR0917  a command has as many options as it has
    name: Annotated[str, typer.Argument(metavar="NAME", help="The project; `project list` shows them.")],
    weight: Annotated[
        float | None,
        typer.Option("--weight", min=0.01, max=1000, help="One of weight 2 is due twice the slots of one of weight 1."),
    ] = None,
    quota: Annotated[
        str | None, typer.Option("--quota", metavar="P=N,...", help="Desktops at once, as `all=12,k8s=8`; '' = none.")
    ] = None,
    reserved: Annotated[
        str | None,
        typer.Option("--reserved", metavar="P=N,...", help="Slots kept free for its interactive episodes; '' = none."),
    ] = None,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Set how a project shares in the slots, from the next claim on; what is not given stays."""
    body: dict[str, Any] = {} if weight is None else {"weight": weight}
    try:
        body |= {} if quota is None else {"quota": read(quota, "quota")}
        body |= {} if reserved is None else {"reserved": read(reserved, "reserved")}
    except Invalid as error:
        raise UsageError(f"--{error}") from None
    if not body:
        raise UsageError("say what to set: --weight, --quota, --reserved")
    with Api(server) as api:
        print_rows([api.patch(f"/projects/{name}", body)], output, PROJECTS)
