"""`deskarena run export` and `import-results`: runs as files, for and from other tools."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from backend.cli.client import Api
from backend.cli.errors import UsageError
from backend.cli.options import OutputForm, RunId, Server
from backend.cli.output import Output, print_bytes, print_facts, print_object, progress
from backend.cli.run_options import RunName
from backend.domain.errors import Invalid

CHUNK = 2**18


class ExportFormat(StrEnum):
    """Format of an exported run."""

    JSONL = "jsonl"
    ZIP = "zip"
    OSWORLD = "osworld"
    INSPECT = "inspect"
    ATIF = "atif"


def export(
    run: RunId,
    form: Annotated[
        ExportFormat,
        typer.Option(
            "--format",
            help=(
                "JSON lines, a zip that also has a table of the episodes, a zip of OSWorld's folder of results, "
                "an Inspect log (.eval), or a zip of ATIF trajectories."
            ),
        ),
    ] = ExportFormat.JSONL,
    to: Annotated[
        Path | None, typer.Option("--to", "--out", metavar="FILE", help="File to write (default: stdout).")
    ] = None,
    pictures: Annotated[bool, typer.Option("--pictures/--no-pictures", help="Include screenshots.")] = True,
    server: Server = None,
) -> None:
    """Export a run with all its episodes, attempts, steps and evaluations as one file."""
    with Api(server) as api, api.stream(f"/runs/{run}/export", format=form.value, pictures=pictures) as source:
        if to is None:
            print_bytes(iter(lambda: source.read(CHUNK), b""))
            return
        part = to.with_name(f"{to.name}.part")
        try:
            with part.open("wb") as target:
                while data := source.read(CHUNK):
                    target.write(data)
            part.replace(to)
        except OSError as error:
            raise UsageError(f"--to {to} cannot be written: {error.strerror}.", code="file_not_writable") from None
        finally:
            part.unlink(missing_ok=True)
    progress(f"Wrote {to}")


def import_results(  # noqa: PLR0913, PLR0917  a command has as many options as it has
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of results in OSWorld's form.")],
    benchmark: Annotated[str, typer.Option("--benchmark", help="Benchmark that was measured.")],
    version: Annotated[
        int | None, typer.Option("--benchmark-version", min=1, help="Version of its tasks (default: the newest).")
    ] = None,
    name: RunName = "",
    model: Annotated[str, typer.Option("--model", help="Model (default: the folder's name).")] = "",
    action_space: Annotated[str, typer.Option("--action-space", help="Default: the folder's name.")] = "",
    observation: Annotated[str, typer.Option("--observation", help="Default: the folder's name.")] = "",
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Import results that another tool measured, as a run that is marked and ranked only on request."""
    from backend.domain.run_formats.osworld_reader import read_results

    names = {"model": model, "action_space": action_space, "observation": observation}
    try:
        results = read_results(folder, names)
    except Invalid as error:
        raise UsageError(error.text, code=error.code) from None
    body = {"benchmark": benchmark, "version": version, "name": name, "results": results.model_dump(mode="json")}
    with Api(server) as api:
        print_object(api.post("/runs/import", body), output, show_import)


def show_import(run: Any) -> None:
    """Print what was imported."""
    counts = run["counts"]
    print_facts(
        {
            "run": run["id"],
            "benchmark": f"{run['benchmark']} v{run['task_set']['version']}",
            "configuration": run["configuration"]["name"],
            "with a score": counts["scored"],
            "without a result": counts["lost"],
        }
    )
