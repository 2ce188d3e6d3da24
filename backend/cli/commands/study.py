"""`deskarena study`: submit, list, show, results."""

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from backend.cli.client import Api
from backend.cli.commands.run import parameters
from backend.cli.errors import UsageError
from backend.cli.options import DEFAULT_LIMIT, Concurrency, Limit, OutputForm, Priority, Server, Tasks, note_output
from backend.cli.output import Output, print_facts, print_notice, print_object, print_rows, progress
from backend.cli.tables.studies import COMPARISONS, STUDIES, flat, show_results, study_facts
from backend.domain.formats.foreign_text import csv_text

app = typer.Typer(help="Compare settings pairwise.", no_args_is_help=True)
RESULT_SECONDS = 600.0
StudyId = Annotated[str, typer.Argument(metavar="STUDY", help="Study id.")]


class DesignOption(StrEnum):
    """Which cells a study has."""

    ONE_AT_A_TIME = "one_at_a_time"
    FULL = "full"


class ResultFormat(StrEnum):
    """Output format of results."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"


@app.command()
def submit(  # noqa: PLR0913, PLR0917  a command has as many options as it has
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Study as JSON, as for the API; - reads stdin.")
    ] = None,
    benchmark: Annotated[str | None, typer.Option("--benchmark", help="Benchmark name.")] = None,
    agent: Annotated[str | None, typer.Option("--agent", help="Agent name.")] = None,
    factor: Annotated[
        list[str] | None,
        typer.Option(
            "--factor", metavar="FIELD=A,B", help=("Field of a run and its levels, the baseline first (repeatable).")
        ),
    ] = None,
    design: Annotated[
        DesignOption | None,
        typer.Option("--design", help="Vary one factor at a time, or all combinations.", show_default=False),
    ] = None,
    sample: Annotated[
        float | None, typer.Option("--sample", min=0, max=1, help="Share of the tasks to draw, from 0 to 1.")
    ] = None,
    param: Annotated[
        list[str] | None, typer.Option("--param", metavar="K=V", help=("Agent parameter; V may be JSON (repeatable)."))
    ] = None,
    provider: Annotated[str | None, typer.Option("--provider", help="Provider of the desktops.")] = None,
    tasks: Tasks = None,
    repeats: Annotated[int | None, typer.Option("--repeats", min=1, max=100, help="Episodes per task.")] = None,
    max_steps: Annotated[int | None, typer.Option("--max-steps", min=1, help="Maximum steps per episode.")] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help=("Random seed from which each episode's seed is derived."))
    ] = None,
    priority: Priority = None,
    concurrency: Concurrency = None,
    name: Annotated[str | None, typer.Option("--name", help="Name of the study.")] = None,
    idempotency_key: Annotated[
        str | None,
        typer.Option("--idempotency-key", help=("Submitting again with the same key returns the existing study.")),
    ] = None,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Submit a study from a file, from options, or from a file that options override; prints its id."""
    body = read(file) if file is not None else {}
    base = {
        "benchmark": benchmark,
        "agent": agent,
        "params": parameters(param) if param else None,
        "provider": provider,
        "tasks": tasks,
        "repeats": repeats,
        "budget": {"max_steps": max_steps} if max_steps else None,
        "seed": seed,
        "priority": priority,
        "concurrency": concurrency,
    }
    own = {"name": name, "factors": factors(factor) if factor else None, "design": design, "sample": sample}
    body = {**body, **set_values(own), "base": {**body.get("base", {}), **set_values(base)}}
    headers = {"Idempotency-Key": idempotency_key} if idempotency_key else None
    with Api(server) as api:
        study = api.post("/studies", body, headers, seconds=RESULT_SECONDS)
        print_notice(study)
        print_object(study, output, lambda study: print(study["id"]))


@app.command("list")
def list_studies(limit: Limit = DEFAULT_LIMIT, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """List studies, newest first."""
    with Api(server) as api:
        empty = (
            "No studies. Submit one with `deskarena study submit --benchmark starter --agent "
            "random --factor image.scale=1,0.5`."
        )
        print_rows(api.items("/studies", limit), output, STUDIES, empty=empty)


@app.command()
def show(study: StudyId, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Show a study and its progress."""
    with Api(server) as api:
        print_object(api.get(f"/studies/{study}"), output, lambda row: print_facts(study_facts(row)))


@app.command()
def results(
    study: StudyId,
    output: Annotated[
        ResultFormat, typer.Option("--output", "-o", help="Output format.", callback=note_output)
    ] = ResultFormat.TABLE,
    server: Server = None,
) -> None:
    """Show a study's results: paired differences, and rates, steps and endings of each cell."""
    with Api(server) as api:
        results = api.get(f"/studies/{study}/results")
    if output is ResultFormat.CSV:
        rows = [flat(row) for row in results["comparisons"]]
        print(csv_text(list(rows[0]) if rows else [], [row.values() for row in rows]), end="")
    elif output is ResultFormat.JSONL:
        print_rows(results["comparisons"], Output.JSONL, COMPARISONS)
    else:
        print_object(results, Output(output.value), show_results)
    pending = results["study"]["episodes"] - results["study"]["ended"]
    if pending:
        progress(f"{pending} episodes have not ended yet")


def set_values(values: dict[str, Any]) -> dict[str, Any]:
    """The options that have a value."""
    return {name: value for name, value in values.items() if value is not None}


def read(file: Path) -> dict[str, Any]:
    """Reads a study from a file or stdin."""
    try:
        body = json.loads(sys.stdin.read() if str(file) == "-" else file.read_text())
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.", code="file_not_readable") from None
    except ValueError as error:
        raise UsageError(f"{file} is not valid JSON: {error}.", code="file_not_json") from None
    if not isinstance(body, dict):
        raise UsageError(f"{file} must contain a JSON object.", code="file_not_json")
    return body


def factors(words: list[str]) -> dict[str, list[Any]]:
    """Parses `FIELD=A,B` arguments to levels by field; the levels may also be a JSON list."""
    from backend.domain.studies.levels import levels_of

    levels: dict[str, list[Any]] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name or not text:
            raise UsageError(f"--factor must be FIELD=A,B, got {word!r}.", code="invalid_option")
        if name in levels:
            raise UsageError(f"--factor {name} is given twice. Give all its levels at once.", code="invalid_option")
        try:
            levels[name] = levels_of(text)
        except ValueError as error:
            raise UsageError(
                f"The levels {text[:80]} are not a valid JSON list: {error}.", code="invalid_option"
            ) from None
    return levels
