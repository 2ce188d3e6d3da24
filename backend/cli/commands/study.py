"""`deskarena study`: submit, list, show, results."""

import csv
import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from backend.cli.client import Api
from backend.cli.commands.run import parameters
from backend.cli.errors import UsageError
from backend.cli.options import Concurrency, Limit, OutputForm, Priority, Server, Tasks
from backend.cli.output import Output, print_facts, print_object, print_rows, progress
from backend.cli.tables.studies import COMPARISONS, STUDIES, flat, show_results, study_facts

app = typer.Typer(help="Compare conditions pair by pair.", no_args_is_help=True)
DEFAULT_LIMIT = 50
RESULT_SECONDS = 600.0
NONE = "none"
StudyId = Annotated[str, typer.Argument(metavar="STUDY", help="The study's id.")]


class DesignOption(StrEnum):
    """Which cells a study has."""

    ONE_AT_A_TIME = "one_at_a_time"
    FULL = "full"


class ResultFormat(StrEnum):
    """The forms of results."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"


@app.command()
def submit(  # noqa: PLR0913, PLR0917  a command has as many options as it has
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="The study as JSON, as the API takes it; - is stdin.")
    ] = None,
    benchmark: Annotated[str | None, typer.Option("--benchmark", help="Name of the benchmark.")] = None,
    agent: Annotated[str | None, typer.Option("--agent", help="Name of the agent.")] = None,
    factor: Annotated[
        list[str] | None,
        typer.Option(
            "--factor", metavar="FIELD=A,B", help="A field of a run and its levels, the base cell's first; repeat it."
        ),
    ] = None,
    design: Annotated[
        DesignOption | None,
        typer.Option("--design", help="One factor at a time, or every combination.", show_default=False),
    ] = None,
    sample: Annotated[
        float | None, typer.Option("--sample", min=0, max=1, help="A share of the tasks, drawn from the seed.")
    ] = None,
    param: Annotated[
        list[str] | None, typer.Option("--param", metavar="K=V", help="The agent's parameter; V may be JSON.")
    ] = None,
    provider: Annotated[str | None, typer.Option("--provider", help="What makes the desktops.")] = None,
    tasks: Tasks = None,
    repeats: Annotated[int | None, typer.Option("--repeats", min=1, max=100, help="Episodes per task.")] = None,
    max_steps: Annotated[int | None, typer.Option("--max-steps", min=1, help="Steps per episode.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Base of every episode's seed.")] = None,
    priority: Priority = None,
    concurrency: Concurrency = None,
    name: Annotated[str | None, typer.Option("--name", help="A name for the study.")] = None,
    idempotency_key: Annotated[
        str | None, typer.Option("--idempotency-key", help="The same key gives the same study.")
    ] = None,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Submit a study from a file, from options, or from a file that options change; prints its id."""
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
        print_object(study, output, lambda study: print(study["id"]))


@app.command("list")
def list_studies(limit: Limit = DEFAULT_LIMIT, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """List studies, newest first."""
    with Api(server) as api:
        empty = "no studies yet: `deskarena study submit --benchmark starter --agent random --factor image.scale=1,0.5`"
        print_rows(api.items("/studies", limit), output, STUDIES, empty=empty)


@app.command()
def show(study: StudyId, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Show a study and how it is doing."""
    with Api(server) as api:
        print_object(api.get(f"/studies/{study}"), output, lambda row: print_facts(study_facts(row)))


@app.command()
def results(
    study: StudyId,
    output: Annotated[ResultFormat, typer.Option("--output", "-o", help="Form of the result.")] = ResultFormat.TABLE,
    server: Server = None,
) -> None:
    """Show what a study comes to: paired differences, and each cell's rates, steps and ways of ending."""
    with Api(server) as api:
        results = api.get(f"/studies/{study}/results")
    if output is ResultFormat.CSV:
        rows = [flat(row) for row in results["comparisons"]]
        writer = csv.DictWriter(sys.stdout, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    elif output is ResultFormat.JSONL:
        print_rows(results["comparisons"], Output.JSONL, COMPARISONS)
    else:
        print_object(results, Output(output.value), show_results)
    left = results["study"]["episodes"] - results["study"]["ended"]
    if left:
        progress(f"{left} episodes have not ended yet")


def set_values(values: dict[str, Any]) -> dict[str, Any]:
    """What was said of them."""
    return {name: value for name, value in values.items() if value is not None}


def read(file: Path) -> dict[str, Any]:
    """The study in a file."""
    try:
        body = json.loads(sys.stdin.read() if str(file) == "-" else file.read_text())
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{file} is no JSON: {error}") from None
    if not isinstance(body, dict):
        raise UsageError(f"{file} holds no JSON object")
    return body


def factors(words: list[str]) -> dict[str, list[Any]]:
    """`FIELD=A,B` words as levels by field; after the `=` there may also be a JSON list."""
    levels: dict[str, list[Any]] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name or not text:
            raise UsageError(f"--factor wants FIELD=A,B, not {word!r}")
        if name in levels:
            raise UsageError(f"--factor {name} is there twice: give all its levels at once")
        levels[name] = _levels(text)
    return levels


def _levels(text: str) -> list[Any]:
    if text.startswith("["):
        try:
            listed = json.loads(text)
        except ValueError as error:
            raise UsageError(f"the levels {text[:80]} are no JSON list: {error}") from None
        return list(listed)
    return [_level(part.strip()) for part in text.split(",")]


def _level(word: str) -> Any:
    """A level: `none` leaves the field out, JSON is taken as such, anything else as text."""
    if word == NONE:
        return None
    try:
        return json.loads(word)
    except ValueError:
        return word
