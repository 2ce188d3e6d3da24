"""`deskarena benchmark fetch` and `benchmark asset`: web files that tasks need."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Annotated, Any

import typer

from backend.cli.client import Api
from backend.cli.errors import CliError, ExitCode, UsageError
from backend.cli.options import OutputForm, Server, Tasks
from backend.cli.output import Columns, Output, print_object, print_rows, progress

app = typer.Typer(help="Manage the web files that a benchmark's tasks need.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="NAME", help="Benchmark name.")]
FETCH_SECONDS = 6000.0
_MOST_TRIES = 3
ASSETS: Columns = {
    "state": lambda row: row["state"],
    "bytes": lambda row: row["size"],
    "tasks": lambda row: len(row["tasks"]),
    "url": lambda row: row["url"],
    "problem": lambda row: row["problem"],
}


def fetch(  # noqa: PLR0913, PLR0917 - one parameter per option
    name: Name,
    jobs: Annotated[int, typer.Option("--jobs", min=1, max=16, help="Parallel downloads.")] = 4,
    tasks: Tasks = None,
    force: Annotated[bool, typer.Option("--force", help="Also download files that exist already.")] = False,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Download the files that tasks need. Existing files are skipped, so it can be repeated after an interruption.

    Exits with 1 if a link is dead, with 3 if a server did not respond.
    """
    with Api(server) as api:
        assets = list(api.items(f"/benchmarks/{name}/assets", tasks=tasks or None))
        urls = [row["url"] for row in assets if force or row["state"] != "stored"]
        rows = {row["url"]: row for row in assets}
        for count, row in enumerate(_fetch(api, name, urls, jobs, force=force), start=1):
            rows[row["url"]] = row
            progress(f"[{count}/{len(urls)}] {in_words(row)}")
    bad = [row for row in rows.values() if row["state"] != "stored" or row["problem"]]
    if output is Output.TABLE:
        print_rows(bad, output, ASSETS, empty=f"All {len(rows)} files exist.")
    else:
        print_rows(rows.values(), output, ASSETS)
    _finish(name, len(rows), bad)


def _finish(name: str, total: int, bad: Sequence[Any]) -> None:
    dead = sum(row["state"] == "dead" for row in bad)
    silent = sum(row["state"] == "missing" for row in bad)
    reachable = total - dead - silent
    progress(f"{reachable} of {total} files exist, {dead} links are dead, {silent} servers did not respond")
    if dead or silent:
        progress(f"To add a file that you obtained elsewhere: deskarena benchmark asset add {name} URL FILE")
    if silent:
        raise typer.Exit(ExitCode.INFRASTRUCTURE)
    if dead:
        raise typer.Exit(ExitCode.THRESHOLD_MISSED)


def _fetch(api: Api, name: str, urls: Sequence[str], jobs: int, *, force: bool) -> Iterator[Any]:
    """Yields each file's row when its download has ended."""
    queue: SimpleQueue[str] = SimpleQueue()
    results: SimpleQueue[Any] = SimpleQueue()
    for url in urls:
        queue.put(url)

    def work() -> None:
        with suppress(Empty):
            while True:
                url = queue.get_nowait()
                try:
                    results.put(_fetch_one(api, name, url, force=force))
                except CliError as error:
                    results.put(error)

    # Daemon threads: an interrupted command must not wait for a large file.
    for _ in range(min(jobs, len(urls))):
        Thread(target=work, daemon=True).start()
    for _ in urls:
        row = results.get()
        if isinstance(row, CliError):
            raise row
        yield row


def _fetch_one(api: Api, name: str, url: str, *, force: bool) -> Any:
    """Downloads one file; its row has state `missing` and the reason if the server did not respond."""
    problem = ""
    for _ in range(_MOST_TRIES):
        try:
            body = {"url": url, "force": force}
            return api.post(f"/benchmarks/{name}/assets/fetch", body, seconds=FETCH_SECONDS)
        except UsageError:
            raise
        except CliError as error:
            problem = str(error)
    return {"url": url, "state": "missing", "tasks": [], "size": None, "problem": problem}


def in_words(row: Any) -> str:
    """One line about a file."""
    if row["state"] == "stored":
        return f"{row['size']} bytes  {row['url']}"
    return f"{row['state']}: {row['problem']}"


@app.command("list")
def list_assets(name: Name, tasks: Tasks = None, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """List the files that tasks need and whether they exist."""
    with Api(server) as api:
        rows = api.items(f"/benchmarks/{name}/assets", tasks=tasks or None)
        print_rows(rows, output, ASSETS, empty="The tasks need no web files.")


@app.command()
def add(
    name: Name,
    url: Annotated[str, typer.Argument(metavar="URL", help="Address of the file as written in the tasks.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Local copy of the file.")],
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Add a file that could not be downloaded. It is used in place of the address."""
    if not file.is_file():
        raise UsageError(f"{file} is not a file.", code="path_not_found")
    with Api(server) as api:
        row = api.upload(f"/benchmarks/{name}/assets", {"url": url}, file.name, file)
    print_object(row, output, lambda asset: print(f"{asset['url']}: {asset['size']} bytes, sha256 {asset['sha256']}"))
