"""`deskarena export`: recorded trajectories as training data."""

from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from backend.cli.client import Api
from backend.cli.download import ExportDownload
from backend.cli.errors import CliError, UsageError
from backend.cli.options import OutputForm, Server
from backend.cli.output import Output, print_facts, print_object, progress

app = typer.Typer(help="Export recorded data.", no_args_is_help=True)
MOST_JOBS = 16


class ResultOption(StrEnum):
    """Result of an episode."""

    SOLVED = "solved"
    PARTIAL = "partial"
    UNSOLVED = "unsolved"
    ANY = "any"


class ActorOption(StrEnum):
    """Kind of actor."""

    HUMAN = "human"
    ORACLE = "oracle"
    MODEL = "model"
    HUMAN_ASSISTED = "human_assisted"
    OTHER = "other"


class Format(StrEnum):
    """File format of the rows."""

    JSONL = "jsonl"
    PARQUET = "parquet"


Several = list[str] | None
OutputFolder = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help=("Output folder: new, or the folder of the same export to continue.")),
]
RowForm = Annotated[
    str, typer.Option("--form", help=("Row form, such as steps, trajectories or chat (docs/training-data.md)."))
]
Results = Annotated[
    list[ResultOption] | None,
    typer.Option("--result", help=("Only episodes with this result (default: solved; repeatable).")),
]
Actors = Annotated[
    list[ActorOption] | None, typer.Option("--kind", help=("Only episodes by this kind of actor (repeatable)."))
]
Difficulties = Annotated[
    Several,
    typer.Option("--difficulty", help=("Only tasks of this difficulty: easy, medium or hard (repeatable).")),
]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", help=("Only episodes that ended at or after this time (ISO 8601).")),
]
Until = Annotated[
    str | None,
    typer.Option("--until", metavar="TIME", help=("Only episodes that ended before this time (ISO 8601).")),
]
Measures = Annotated[
    Several,
    typer.Option("--measure", metavar="NAME>=X", help=("Minimum of a measure, such as CR>=0.5 (repeatable).")),
]
OpenLicence = Annotated[bool, typer.Option("--open-licence", help="Only benchmarks with a known open licence.")]


@app.callback()
def group() -> None:
    """Export recorded data."""


@app.command()
def trajectories(  # noqa: PLR0913, PLR0917  a command has as many options as it has
    out: OutputFolder = None,
    form: RowForm = "steps",
    file_format: Annotated[Format, typer.Option("--format", help="File format of the rows.")] = Format.JSONL,
    result: Results = None,
    kind: Actors = None,
    benchmark: Annotated[Several, typer.Option("--benchmark", help="Only this benchmark (repeatable).")] = None,
    domain: Annotated[Several, typer.Option("--domain", help="Only tasks of this domain (repeatable).")] = None,
    level: Annotated[Several, typer.Option("--level", help="Only tasks of this level (repeatable).")] = None,
    difficulty: Difficulties = None,
    agent: Annotated[Several, typer.Option("--agent", help="Only this agent (repeatable).")] = None,
    run: Annotated[Several, typer.Option("--run", metavar="RUN", help="Only this run (repeatable).")] = None,
    since: Since = None,
    until: Until = None,
    min_score: Annotated[float | None, typer.Option("--min-score", min=0, max=1, help="Minimum score.")] = None,
    measure: Measures = None,
    open_licence: OpenLicence = False,
    jobs: Annotated[int, typer.Option("--jobs", min=1, max=MOST_JOBS, help="Parallel downloads of pictures.")] = 4,
    count: Annotated[bool, typer.Option("--count", help="Only count; write nothing.")] = False,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Export trajectories to a folder: rows, pictures named by hash, manifest. Can be repeated to continue."""
    results = [] if result is None else [option.value for option in result]
    filters = {
        "result": [option for option in results if option != ResultOption.ANY] or None,
        "any_result": True if ResultOption.ANY in results else None,
        "kind": [option.value for option in kind] if kind else None,
        "benchmark": benchmark,
        "domain": domain,
        "level": level,
        "difficulty": difficulty,
        "agent": agent,
        "run": run,
        "since": moment(since, "--since"),
        "until": moment(until, "--until"),
        "min_score": min_score,
        "measure": measure,
        "open_licence": open_licence or None,
    }
    if out is None and not count:
        raise UsageError("Nothing to do. Give --out with a folder, or --count.", code="option_missing")
    with Api(server) as api:
        counts = api.get("/trajectories/count", **filters)
        if count or out is None:
            print_object(counts, output, show_counts)
            return
        tell(counts)
        question = {name: value for name, value in filters.items() if value is not None}
        download = ExportDownload(api, out, {**question, "form": form, "format": file_format.value}, jobs)
        manifest = download.run()
        print_object(manifest, output, lambda manifest: show_manifest(manifest, out))
    if download.missing:
        raise CliError(
            f"{download.missing} pictures no longer exist in the store; {out / 'manifest.json'} counts them.",
            code="pictures_missing",
        )


def moment(text: str | None, option: str) -> str | None:
    """Time as ISO 8601 with a zone; local time if the text has none."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone().isoformat()
    except ValueError:
        raise UsageError(
            f"{option} must be a time such as 2026-11-01 or 2026-11-01T12:00:00Z, got {text!r}.", code="invalid_option"
        ) from None


def words(counts: dict[str, int]) -> str:
    """Counts as text, such as `solved 12, partial 3`."""
    return ", ".join(f"{name} {number}" for name, number in counts.items()) or "none"


def tell(counts: Any) -> None:
    """Print what will be written and its licence notes."""
    progress(f"{counts['trajectories']} trajectories, {counts['steps']} steps; left out: {words(counts['excluded'])}")
    for licence in counts["licences"]:
        if licence["note"]:
            progress(f"Note: {licence['note']}")


def show_counts(counts: Any) -> None:
    """Print counts as facts."""
    print_facts(
        {
            "trajectories": counts["trajectories"],
            "steps": counts["steps"],
            "by result": words(counts["results"]),
            "by actor": words(counts["kinds"]),
            "by benchmark": words(counts["benchmarks"]),
            "left out": words(counts["excluded"]),
            "not selected": counts["not_matching"],
        }
    )
    for licence in counts["licences"]:
        if licence["note"]:
            progress(f"Note: {licence['note']}")


def show_manifest(manifest: Any, out: Path) -> None:
    """Print a summary of the written export."""
    counts = manifest["counts"]
    print_facts(
        {
            "folder": out,
            "form": f"{manifest['form']} ({manifest['file_format']})",
            "trajectories": counts["trajectories"],
            "steps": counts["steps"],
            "pictures": counts["pictures"],
            "left out": words(manifest["excluded"]),
        }
    )
