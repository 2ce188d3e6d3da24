"""`deskarena export`: recorded trajectories as training data, in a folder."""

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

app = typer.Typer(help="Give away what was recorded.", no_args_is_help=True)
MOST_JOBS = 16


class ResultOption(StrEnum):
    """How far an agent came."""

    SOLVED = "solved"
    PARTLY = "partly"
    UNSOLVED = "unsolved"
    ANY = "any"


class ActorOption(StrEnum):
    """Who acted."""

    HUMAN = "human"
    ORACLE = "oracle"
    MODEL = "model"
    MIXED = "mixed"
    OTHER = "other"


class Format(StrEnum):
    """How rows are written."""

    JSONL = "jsonl"
    PARQUET = "parquet"


Several = list[str] | None


@app.callback()
def group() -> None:
    """Give away what was recorded."""


@app.command()
def trajectories(  # noqa: PLR0913, PLR0917  a command has as many options as it has
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder for the files: new, or of the same export.")
    ] = None,
    form: Annotated[str, typer.Option("--form", help="steps, trajectories, chat, omnibench_...; see the docs.")] = (
        "steps"
    ),
    file_format: Annotated[Format, typer.Option("--format", help="How rows are written.")] = Format.JSONL,
    result: Annotated[
        list[ResultOption] | None, typer.Option("--result", help="How far the agent came; repeat it. Default: solved.")
    ] = None,
    kind: Annotated[list[ActorOption] | None, typer.Option("--kind", help="Who acted; repeat it.")] = None,
    benchmark: Annotated[Several, typer.Option("--benchmark", help="Only this benchmark; repeat it.")] = None,
    domain: Annotated[Several, typer.Option("--domain", help="Only tasks of this domain; repeat it.")] = None,
    level: Annotated[Several, typer.Option("--level", help="Only tasks of this level; repeat it.")] = None,
    difficulty: Annotated[Several, typer.Option("--difficulty", help="easy, medium or hard; repeat it.")] = None,
    agent: Annotated[Several, typer.Option("--agent", help="Only this agent; repeat it.")] = None,
    run: Annotated[Several, typer.Option("--run", metavar="RUN", help="Only this run; repeat it.")] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Ended then or later (ISO 8601).")
    ] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Ended before then (ISO 8601).")] = None,
    min_score: Annotated[float | None, typer.Option("--min-score", min=0, max=1, help="Score at least.")] = None,
    measure: Annotated[
        Several, typer.Option("--measure", metavar="NAME>=X", help="A measure, such as CR>=0.5; repeat it.")
    ] = None,
    open_licence: Annotated[
        bool, typer.Option("--open-licence", help="Only benchmarks whose licence is known to be open.")
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", min=1, max=MOST_JOBS, help="Pictures at the same time.")] = 4,
    count: Annotated[bool, typer.Option("--count", help="Only say how much there is.")] = False,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Write recorded trajectories into a folder: rows, pictures by hash, manifest. Repeat it after a break to go on."""
    results = [] if result is None else [one.value for one in result]
    filters = {
        "result": [one for one in results if one != ResultOption.ANY] or None,
        "any_result": True if ResultOption.ANY in results else None,
        "kind": [one.value for one in kind] if kind else None,
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
        raise UsageError("--out names the folder for the files; --count only says how much there is")
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
            f"{download.missing} pictures are not in the store any more; {out / 'manifest.json'} counts them."
        )


def moment(text: str | None, option: str) -> str | None:
    """A time as the API takes it; one without a zone is this machine's."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone().isoformat()
    except ValueError:
        raise UsageError(f"{option} wants a time such as 2026-11-01 or 2026-11-01T12:00:00Z, not {text!r}") from None


def words(counts: dict[str, int]) -> str:
    """`solved 12, partly 3`."""
    return ", ".join(f"{name} {number}" for name, number in counts.items()) or "none"


def tell(counts: Any) -> None:
    """What is about to be written, and what to know of it."""
    progress(f"{counts['trajectories']} trajectories, {counts['steps']} steps; left out: {words(counts['left_out'])}")
    for licence in counts["licences"]:
        if licence["note"]:
            progress(f"note: {licence['note']}")


def show_counts(counts: Any) -> None:
    """Counts as facts."""
    print_facts(
        {
            "trajectories": counts["trajectories"],
            "steps": counts["steps"],
            "by result": words(counts["results"]),
            "by who acted": words(counts["kinds"]),
            "by benchmark": words(counts["benchmarks"]),
            "left out": words(counts["left_out"]),
            "not asked for": counts["not_asked_for"],
        }
    )
    for licence in counts["licences"]:
        if licence["note"]:
            progress(f"note: {licence['note']}")


def show_manifest(manifest: Any, out: Path) -> None:
    """What was written."""
    counts = manifest["counts"]
    print_facts(
        {
            "folder": out,
            "form": f"{manifest['form']} ({manifest['file_format']})",
            "trajectories": counts["trajectories"],
            "steps": counts["steps"],
            "pictures": counts["pictures"],
            "left out": words(manifest["left_out"]),
        }
    )
