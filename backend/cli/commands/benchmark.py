"""`deskarena benchmark`: import, list, show, lint, diff, label, validate."""

import os
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from backend.cli.client import Api
from backend.cli.errors import CliError, ExitCode, UsageError
from backend.cli.options import OutputForm, Server, Timeout
from backend.cli.output import Columns, Output, print_facts, print_object, print_rows, progress
from backend.cli.waiting import PATIENCE_SECONDS, resumable

app = typer.Typer(help="Import and inspect benchmarks.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="NAME", help="Benchmark name.")]
LOOK_AGAIN_SECONDS = 1.0
URL_SECONDS = 660.0
PUBLISHED = frozenset({"waa", "osworld"})
"""Formats that consist of JSON files only; other files of a checkout are not uploaded."""
LISTED = 20  # lines of a list that a table shows; the JSON form has all
BENCHMARKS: Columns = {
    "benchmark": lambda row: row["name"],
    "kind": lambda row: row["kind"],
    "version": lambda row: row["task_set"] and row["task_set"]["version"],
    "tasks": lambda row: row["tasks"],
    "domains": lambda row: counts(row["domains"]),
    "difficulties": lambda row: counts(row["difficulties"]),
}
FINDINGS: Columns = {
    "": lambda row: row["severity"],
    "task": lambda row: row["task"],
    "where": lambda row: row["path"],
    "what": lambda row: " ".join(filter(None, (row["message"], row["hint"]))),
}
VALIDATIONS: Columns = {
    "task": lambda row: row["task"],
    "oracle": lambda row: row["oracle"],
    "noop": lambda row: row["noop"],
    "always_fail": lambda row: row["always_fail"],
    "sound": lambda row: row["sound"],
    "why": lambda row: row["reason"],
}


@app.command("import")
def import_benchmark(  # noqa: PLR0913 - a command has as many options as it has
    kind: Annotated[str, typer.Argument(metavar="KIND", help="File format: starter, osworld, waa, ...")],
    path: Annotated[
        str, typer.Argument(metavar="PATH", help=("Folder, zip file or http(s) address of the benchmark's files."))
    ],
    name: Annotated[str | None, typer.Option("--name", help="Name for the benchmark (default: KIND).")] = None,
    *,
    strict_upstream: Annotated[
        bool,
        typer.Option(
            "--strict-upstream", help=("Score exactly as published, including known faults, to reproduce old figures.")
        ),
    ] = False,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Import a benchmark's files. Changed files create a new version; unchanged files do nothing."""
    with Api(server) as api:
        if path.startswith(("http://", "https://")):
            body = {"kind": kind, "url": path, "name": name or kind, "strict_upstream": strict_upstream}
            progress("The service is downloading the files ...")
            result = api.post("/benchmarks/from-url", body, seconds=URL_SECONDS)
        else:
            result = upload(api, kind, Path(path), name or kind, strict_upstream=strict_upstream)
    print_object(result, output, show_import)


def upload(api: Api, kind: str, path: Path, name: str, *, strict_upstream: bool) -> Any:
    """Upload a folder or a zip file."""
    if not path.exists():
        raise UsageError(f"{path} does not exist.", code="path_not_found")
    with tempfile.TemporaryDirectory(prefix="deskarena-import-") as folder:
        archive = path if path.is_file() else zip_folder(path, Path(folder) / "files.zip", only_json=kind in PUBLISHED)
        fields = {"kind": kind, "name": name, "strict_upstream": str(strict_upstream).lower()}
        return api.upload("/benchmarks", fields, archive.name, archive)


@app.command("list")
def list_benchmarks(output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """List benchmarks."""
    with Api(server) as api:
        print_rows(
            api.items("/benchmarks"),
            output,
            BENCHMARKS,
            empty=("No benchmarks. Import one with `deskarena benchmark import`."),
        )


@app.command()
def show(name: Name, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Show a benchmark's version and contents."""
    with Api(server) as api:
        print_object(api.get(f"/benchmarks/{name}"), output, show_benchmark)


@app.command()
def lint(name: Name, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Check a benchmark's tasks for mistakes. Exits with 1 if there are any."""
    with Api(server) as api:
        report = api.get(f"/benchmarks/{name}/lint")
    if output is Output.JSON:
        print_object(report, output, lambda _: None)
    else:
        print_rows(report["findings"], output, FINDINGS, empty=(f"{report['tasks']} tasks checked, no mistakes."))
    if not report["ok"]:
        raise typer.Exit(ExitCode.THRESHOLD_MISSED)


@app.command()
def diff(
    old: Annotated[str, typer.Argument(metavar="A", help="First version: BENCHMARK or BENCHMARK@VERSION.")],
    new: Annotated[str, typer.Argument(metavar="B", help=("Second version; differences from the first are shown."))],
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Compare two versions or benchmarks, and show which stored scores are affected."""
    with Api(server) as api:
        print_object(api.get("/benchmark-diff", old=old, new=new), output, show_difference)


@app.command()
def label(
    name: Name,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help=("CSV with the columns task, difficulty, source, human_seconds, human_steps.")
        ),
    ],
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Import difficulty labels and times by people. They apply to every version of the benchmark."""
    if not file.is_file():
        raise UsageError(f"{file} is not a file.", code="path_not_found")
    with Api(server) as api:
        result = api.upload(f"/benchmarks/{name}/labels", {}, file.name, file)
    print_object(result, output, lambda result: print(f"{result['rows']} rows, {result['tasks']} tasks changed"))


@app.command("label-from-people")
def label_from_people(
    name: Name,
    by: Annotated[
        Literal["time", "rating"],
        typer.Option(help=("Derive the difficulty from people's median time or median rating.")),
    ] = "time",
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Create labels from results by people: median steps, median seconds and a difficulty."""
    with Api(server) as api:
        result = api.post(f"/benchmarks/{name}/labels/people?by={by}")
    print_object(result, output, lambda result: print(f"{result['rows']} rows, {result['tasks']} tasks changed"))


@app.command("label-from-agents")
def label_from_agents(name: Name, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Create labels from results by agents: terciles of their solve rates, with today's date."""
    with Api(server) as api:
        result = api.post(f"/benchmarks/{name}/labels/solve-rates")
    print_object(result, output, lambda result: print(f"{result['rows']} rows, {result['tasks']} tasks changed"))


@app.command()
def validate(name: Name, timeout: Timeout = None, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Run oracle, noop and always_fail on every task. Exits with 1 if a task is unsound.

    A task is sound if the oracle scores 1, noop scores 0, and always_fail scores 1 exactly where the task is
    infeasible.
    """
    with Api(server) as api:
        report = api.post(f"/benchmarks/{name}/validate")
        report = wait_for_validation(api, name, report, timeout)
    if output is Output.JSON:
        print_object(report, output, lambda _: None)
    else:
        print_rows(report["tasks"], output, VALIDATIONS)
    progress(f"{report['sound']} sound, {report['unsound']} unsound, {report['not_runnable']} not runnable here")
    if not report["ok"]:
        raise typer.Exit(ExitCode.THRESHOLD_MISSED if report["unsound"] else ExitCode.INFRASTRUCTURE)


def wait_for_validation(api: Api, name: str, report: Any, timeout: float | None) -> Any:
    """Poll the validation until its three runs have ended."""
    deadline = None if timeout is None else time.monotonic() + timeout
    last_line = ""
    api.patience = PATIENCE_SECONDS
    if report["notice"]:
        progress(report["notice"])
    with resumable(f"The validation continues. Check it with `deskarena benchmark show {name}`."):
        while not report["complete"]:
            if deadline is not None and time.monotonic() > deadline:
                raise CliError(f"Not finished after {timeout:g} s.", ExitCode.WAIT_TIMED_OUT, code="wait_timeout")
            line = "{sound} sound, {unsound} unsound, {not_runnable} not runnable here ...".format(**report)
            if line != last_line:
                progress(line)
                last_line = line
            time.sleep(LOOK_AGAIN_SECONDS)
            report = api.get(f"/benchmarks/{name}/validation")
    return report


def zip_folder(folder: Path, target: Path, *, only_json: bool = False) -> Path:
    """Zip file of a folder, under the folder's name, without hidden files and symlinked folders."""
    root = folder.resolve()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1, strict_timestamps=False) as archive:
        for path in files_below(root):
            if path.is_file() and (path.suffix == ".json" or not only_json):
                archive.write(path, Path(root.name or "files") / path.relative_to(root))
    return target


def files_below(root: Path) -> Iterator[Path]:
    """All files below a folder in a stable order, without hidden files and folders such as .git."""
    for directory, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        yield from (Path(directory) / name for name in sorted(names) if not name.startswith("."))


def show_import(result: Any) -> None:
    """Print the result of an import."""
    benchmark = result["benchmark"]
    version = benchmark["task_set"]["version"]
    outcome = f"created version {version}" if result["created"] else f"unchanged, version {version}"
    print(f"{benchmark['name']}: {benchmark['tasks']} tasks, {outcome}")
    for warning in result["warnings"]:
        progress(f"Warning: {warning}")


def show_benchmark(row: Any) -> None:
    """Print a benchmark's facts."""
    print_facts(
        {
            "benchmark": row["name"],
            "title": row["title"],
            "kind": row["kind"],
            "version": f"{row['task_set']['version']} of {row['versions']}" if row["task_set"] else None,
            "content": row["task_set"] and row["task_set"]["content_hash"],
            "tasks": row["tasks"],
            "infeasible": row["infeasible"],
            "domains": counts(row["domains"]),
            "difficulties": counts(row["difficulties"]),
            "levels": counts(row["levels"]) or None,
            "disciplines": counts(row["disciplines"]) or None,
            "selections": counts(row["selections"]) or None,
            "variants": counts(row["variants"]) or None,
            "unknown": len(row["unknown"]) or "nothing",
            "licence": row["licence"],
            "source": row["source"],
        }
    )
    for line in row["unknown"][:LISTED]:
        progress(f"Not supported: {line}")
    if len(row["unknown"]) > LISTED:
        progress(f"... and {len(row['unknown']) - LISTED} more; -o json lists all.")
    for warning in row["warnings"]:
        progress(f"Warning: {warning}")


def show_difference(difference: Any) -> None:
    """Print the difference of two task sets: one line per task, followed by its changes."""
    touched = [task for task in difference["tasks"] if task["episodes"] or task["evaluations"]]
    print(
        f"{difference['old']} -> {difference['new']}: {difference['added']} added, "
        f"{difference['removed']} removed, {difference['changed']} changed, "
        f"{difference['unchanged']} unchanged"
    )
    episodes, evaluations = sum(task["episodes"] for task in touched), sum(task["evaluations"] for task in touched)
    print(f"Affected scores: {episodes} episodes, {evaluations} evaluations in {len(touched)} tasks")
    for task in difference["tasks"]:
        only = "" if task["scores"] else " (labels only)"
        scores = f"; {task['episodes']} episodes, {task['evaluations']} evaluations" if task in touched else ""
        print(f"{task['kind']:<8} {task['task']}{only}{scores}")
        for change in task["changes"]:
            print(f"         {change['path']}: {change['old']} -> {change['new']}")


def counts(numbers: dict[str, int]) -> str:
    """Counts by name, such as `files 5, calc 3`."""
    return ", ".join(f"{name} {number}" for name, number in numbers.items())
