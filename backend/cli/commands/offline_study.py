"""`deskarena study offline`: agents asked at recorded steps."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from backend.cli.client import Api
from backend.cli.commands.run import parameters
from backend.cli.commands.study import DesignOption, StudyId, factors, read, set_values
from backend.cli.options import DEFAULT_LIMIT, Limit, OutputForm, Server
from backend.cli.output import Output, print_facts, print_notice, print_object, print_rows, progress
from backend.cli.tables.studies import OFFLINE_STUDIES, offline_facts, show_offline

app = typer.Typer(help="Evaluate agents on recorded steps, without a desktop.", no_args_is_help=True)


class ProtocolOption(StrEnum):
    """Protocols whose metrics can be shown."""

    MIND2WEB = "mind2web"
    ANDROID_CONTROL = "android_control"
    OMNIACT = "omniact"


@app.command()
def submit(  # noqa: PLR0913, PLR0917  a command has as many options as it has
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Study as JSON, as for the API; - reads stdin.")
    ] = None,
    demonstrations: Annotated[str | None, typer.Option("--demonstrations", help="Name of the set.")] = None,
    agent: Annotated[str | None, typer.Option("--agent", help="Agent name.")] = None,
    param: Annotated[
        list[str] | None, typer.Option("--param", metavar="K=V", help="Agent parameter; V may be JSON (repeatable).")
    ] = None,
    observation: Annotated[str | None, typer.Option("--observation", help="Observation space.")] = None,
    action_space: Annotated[str | None, typer.Option("--action-space", help="Action space.")] = None,
    factor: Annotated[
        list[str] | None,
        typer.Option("--factor", metavar="FIELD=A,B", help="Factor and its levels (repeatable)."),
    ] = None,
    design: Annotated[
        DesignOption | None,
        typer.Option("--design", help="Vary one factor at a time, or all combinations.", show_default=False),
    ] = None,
    sample: Annotated[
        float | None, typer.Option("--sample", min=0, max=1, help="Share of the demonstrations, from 0 to 1.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Random seed of agents and sample.")] = None,
    name: Annotated[str | None, typer.Option("--name", help="Name of the study.")] = None,
    idempotency_key: Annotated[
        str | None,
        typer.Option("--idempotency-key", help="Submitting again with the same key returns the existing study."),
    ] = None,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Submit an offline study from a file, from options, or from a file that options override; prints its id."""
    body = read(file) if file is not None else {}
    base = {
        "agent": agent,
        "params": parameters(param) if param else None,
        "observation": observation,
        "action_space": action_space,
        "seed": seed,
    }
    own = {
        "name": name,
        "demonstrations": demonstrations,
        "factors": factors(factor) if factor else None,
        "design": design,
        "sample": sample,
    }
    body = {**body, **set_values(own), "base": {**body.get("base", {}), **set_values(base)}}
    headers = {"Idempotency-Key": idempotency_key} if idempotency_key else None
    with Api(server) as api:
        study = api.post("/offline-studies", body, headers)
        print_notice(study)
        print_object(study, output, lambda study: print(study["id"]))


@app.command("list")
def list_studies(limit: Limit = DEFAULT_LIMIT, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """List offline studies, newest first."""
    with Api(server) as api:
        empty = "No offline studies: submit one with `deskarena study offline submit --demonstrations SET ...`."
        print_rows(api.items("/offline-studies", limit), output, OFFLINE_STUDIES, empty=empty)


@app.command()
def show(study: StudyId, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Show an offline study and its progress."""
    with Api(server) as api:
        print_object(api.get(f"/offline-studies/{study}"), output, lambda row: print_facts(offline_facts(row)))


@app.command()
def results(
    study: StudyId,
    protocol: Annotated[
        ProtocolOption | None, typer.Option("--protocol", help="Metrics to use (default: the set's own).")
    ] = None,
    label: Annotated[str | None, typer.Option("--label", help="Label of the demonstrations to group by.")] = None,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Show the metrics of each configuration, also by action and by a label."""
    query = {key: value for key, value in (("protocol", protocol), ("label", label)) if value}
    with Api(server) as api:
        report = api.get(f"/offline-studies/{study}/results", **query)
    print_object(report, output, show_offline)
    pending = report["study"]["answers"] - report["study"]["ended"]
    if pending:
        progress(f"{pending} answers are still waited for")


@app.command()
def cancel(study: StudyId, server: Server = None) -> None:
    """Stop asking; answers that are there stay."""
    with Api(server) as api:
        print(f"{api.post(f'/offline-studies/{study}/cancel', {})['answers']} answers cancelled")


@app.command()
def retry(study: StudyId, server: Server = None) -> None:
    """Ask again at steps without an answer."""
    with Api(server) as api:
        print(f"{api.post(f'/offline-studies/{study}/retry', {})['answers']} answers asked for again")
