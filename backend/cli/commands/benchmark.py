"""`deskarena benchmark`: import, list, show, lint, validate."""

import tempfile
import time
import zipfile
from pathlib import Path
from typing import Annotated, Any

import typer

from backend.cli.client import Api
from backend.cli.errors import CliError, ExitCode, UsageError
from backend.cli.options import OutputForm, Server, Timeout
from backend.cli.output import Columns, Output, print_facts, print_object, print_rows, progress

app = typer.Typer(help="Import benchmarks and look at them.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="NAME", help="The benchmark's name.")]
LOOK_AGAIN_SECONDS = 1.0
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
def import_benchmark(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="Whose file format: starter, osworld, waa, ...")],
    path: Annotated[Path, typer.Argument(metavar="PATH", help="Folder or zip file with the benchmark's files.")],
    name: Annotated[str | None, typer.Option("--name", help="Name for the benchmark; the kind if not given.")] = None,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Import a benchmark's files; changed files make a new version, the same files change nothing."""
    if not path.exists():
        raise UsageError(f"{path} does not exist")
    with tempfile.TemporaryDirectory(prefix="deskarena-import-") as folder, Api(server) as api:
        archive = path if path.is_file() else zipped(path, Path(folder) / "files.zip")
        result = api.upload("/benchmarks", {"kind": kind, "name": name or kind}, archive.name, archive)
    print_object(result, output, show_import)


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
    told = ""
    while not report["done"]:
        if deadline is not None and time.monotonic() > deadline:
            message = f"Not done after {timeout:g} s; it goes on. Look again: deskarena benchmark show {name}"
            raise CliError(message, ExitCode.WAIT_TIMED_OUT)
        line = f"{report['sound']} sound, {report['unsound']} unsound, {report['not_runnable']} not runnable here ..."
        if line != told:
            progress(line)
            told = line
        time.sleep(LOOK_AGAIN_SECONDS)
        report = api.get(f"/benchmarks/{name}/validation")
    return report


def zipped(folder: Path, target: Path) -> Path:
    """A zip file of all files below a folder, with paths relative to it."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    return target


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
            "domains": counts(row["domains"]),
            "difficulties": counts(row["difficulties"]),
            "licence": row["licence"],
            "source": row["source"],
        }
    )
    for warning in row["warnings"]:
        progress(f"warning: {warning}")


def counts(numbers: dict[str, int]) -> str:
    """Counts by name, such as `files 5, calc 3`."""
    return ", ".join(f"{name} {number}" for name, number in numbers.items())
