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

app = typer.Typer(help="Import benchmarks and look at them.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="NAME", help="The benchmark's name.")]
LOOK_AGAIN_SECONDS = 1.0
URL_SECONDS = 660.0
PUBLISHED = frozenset({"waa", "osworld"})
"""Suites whose readers read JSON files and nothing else: no more of a checkout need travel."""
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
    kind: Annotated[str, typer.Argument(metavar="KIND", help="Whose file format: starter, osworld, waa, ...")],
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="Folder, zip file or http(s) address with the benchmark's files.")
    ],
    name: Annotated[str | None, typer.Option("--name", help="Name for the benchmark; the kind if not given.")] = None,
    *,
    strict_upstream: Annotated[
        bool, typer.Option("--strict-upstream", help="Metrics judge as published, faults included, for old numbers.")
    ] = False,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Import a benchmark's files; changed files make a new version, the same files change nothing."""
    with Api(server) as api:
        if path.startswith(("http://", "https://")):
            body = {"kind": kind, "url": path, "name": name or kind, "strict_upstream": strict_upstream}
            progress("the service fetches the files ...")
            result = api.post("/benchmarks/from-url", body, seconds=URL_SECONDS)
        else:
            result = upload(api, kind, Path(path), name or kind, strict_upstream=strict_upstream)
    print_object(result, output, show_import)


def upload(api: Api, kind: str, path: Path, name: str, *, strict_upstream: bool) -> Any:
    """Send a folder or a zip file."""
    if not path.exists():
        raise UsageError(f"{path} does not exist")
    with tempfile.TemporaryDirectory(prefix="deskarena-import-") as folder:
        archive = path if path.is_file() else zipped(path, Path(folder) / "files.zip", only_json=kind in PUBLISHED)
        fields = {"kind": kind, "name": name, "strict_upstream": str(strict_upstream).lower()}
        return api.upload("/benchmarks", fields, archive.name, archive)


@app.command("list")
def list_benchmarks(output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """List benchmarks."""
    with Api(server) as api:
        print_rows(
            api.items("/benchmarks"), output, BENCHMARKS, empty="no benchmarks yet: `deskarena benchmark import`"
        )


@app.command()
def show(name: Name, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Show a benchmark: its version and what it contains."""
    with Api(server) as api:
        print_object(api.get(f"/benchmarks/{name}"), output, show_benchmark)


@app.command()
def lint(name: Name, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Look for mistakes in a benchmark's tasks; exits with 1 if there is one."""
    with Api(server) as api:
        report = api.get(f"/benchmarks/{name}/lint")
    if output is Output.JSON:
        print_object(report, output, lambda _: None)
    else:
        print_rows(report["findings"], output, FINDINGS, empty=f"{report['tasks']} tasks, nothing found")
    if not report["ok"]:
        raise typer.Exit(ExitCode.THRESHOLD_MISSED)


@app.command()
def diff(
    old: Annotated[str, typer.Argument(metavar="A", help="A benchmark, or BENCHMARK@VERSION.")],
    new: Annotated[str, typer.Argument(metavar="B", help="The same; what it changes of A is shown.")],
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Show what differs between two versions or benchmarks, and which stored scores that touches."""
    with Api(server) as api:
        print_object(api.get("/benchmark-diff", old=old, new=new), output, show_difference)


@app.command()
def label(
    name: Name,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="CSV with task, difficulty, source, human_seconds, human_steps."),
    ],
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Import people's difficulty labels and times; they hold for every version of the benchmark."""
    if not file.is_file():
        raise UsageError(f"{file} is no file")
    with Api(server) as api:
        result = api.upload(f"/benchmarks/{name}/labels", {}, file.name, file)
    print_object(result, output, lambda done: print(f"{done['rows']} rows, {done['tasks']} tasks changed"))


@app.command("label-from-people")
def label_from_people(
    name: Name,
    by: Annotated[
        Literal["time", "rating"], typer.Option(help="Difficulty by people's median time, or by their median rating.")
    ] = "time",
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Write what people measured here as labels: median steps and seconds, and a difficulty."""
    with Api(server) as api:
        result = api.post(f"/benchmarks/{name}/labels/people?by={by}")
    print_object(result, output, lambda done: print(f"{done['rows']} rows, {done['tasks']} tasks changed"))


@app.command()
def validate(name: Name, timeout: Timeout = None, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Run oracle, noop and always_fail on every task; exits with 1 if a task is unsound.

    A task is sound if its oracle scores 1, doing nothing 0, and always_fail 1 exactly where it is infeasible.
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
    """Look at the validation until its three runs have ended."""
    deadline = None if timeout is None else time.monotonic() + timeout
    last_line = ""
    while not report["done"]:
        if deadline is not None and time.monotonic() > deadline:
            message = f"Not done after {timeout:g} s; it goes on. Look again: deskarena benchmark show {name}"
            raise CliError(message, ExitCode.WAIT_TIMED_OUT)
        line = f"{report['sound']} sound, {report['unsound']} unsound, {report['not_runnable']} not runnable here ..."
        if line != last_line:
            progress(line)
            last_line = line
        time.sleep(LOOK_AGAIN_SECONDS)
        report = api.get(f"/benchmarks/{name}/validation")
    return report


def zipped(folder: Path, target: Path, *, only_json: bool = False) -> Path:
    """A zip file of a folder under its own name, without hidden files, and without links to folders."""
    root = folder.resolve()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1, strict_timestamps=False) as archive:
        for path in files_below(root):
            if path.is_file() and (path.suffix == ".json" or not only_json):
                archive.write(path, Path(root.name or "files") / path.relative_to(root))
    return target


def files_below(root: Path) -> Iterator[Path]:
    """All files below a folder in a stable order; hidden ones, version control's among them, are passed over."""
    for here, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        yield from (Path(here) / name for name in sorted(names) if not name.startswith("."))


def show_import(result: Any) -> None:
    """What an import did."""
    benchmark = result["benchmark"]
    version = benchmark["task_set"]["version"]
    done = f"version {version} is new" if result["created"] else f"these files are version {version} already"
    print(f"{benchmark['name']}: {benchmark['tasks']} tasks, {done}")
    for warning in result["warnings"]:
        progress(f"warning: {warning}")


def show_benchmark(row: Any) -> None:
    """A benchmark's facts."""
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
        progress(f"not understood: {line}")
    if len(row["unknown"]) > LISTED:
        progress(f"and {len(row['unknown']) - LISTED} more: -o json has them all")
    for warning in row["warnings"]:
        progress(f"warning: {warning}")


def show_difference(difference: Any) -> None:
    """What two task sets differ in: one line a task, then the places."""
    touched = [task for task in difference["tasks"] if task["episodes"] or task["evaluations"]]
    print(
        f"{difference['old']} -> {difference['new']}: {difference['added']} added, {difference['removed']} removed, "
        f"{difference['changed']} changed, {difference['same']} the same"
    )
    episodes, evaluations = sum(task["episodes"] for task in touched), sum(task["evaluations"] for task in touched)
    print(f"stored scores touched: {episodes} episodes, {evaluations} evaluations of {len(touched)} tasks")
    for task in difference["tasks"]:
        only = "" if task["scores"] else " (labels only)"
        scores = f"; {task['episodes']} episodes, {task['evaluations']} evaluations" if task in touched else ""
        print(f"{task['kind']:<8} {task['task']}{only}{scores}")
        for change in task["changes"]:
            print(f"         {change['place']}: {change['old']} -> {change['new']}")


def counts(numbers: dict[str, int]) -> str:
    """Counts by name, such as `files 5, calc 3`."""
    return ", ".join(f"{name} {number}" for name, number in numbers.items())
