"""`deskarena demo`: start the stack in a temporary folder, complete one run and remove everything."""

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backend.cli.client import Api
from backend.cli.errors import ExitCode
from backend.cli.exit_code import judge
from backend.cli.interrupt import Interruptible
from backend.cli.options import OutputForm, Tasks, Timeout
from backend.cli.output import Output, print_object, progress
from backend.cli.tables.runs import show_run
from backend.cli.waiting import WaitLimits, wait_for_run, wait_for_worker

if TYPE_CHECKING:
    from backend.cli.embedded.stack import Stack

PREFIX = "deskarena-demo-"
YOUNG_SECONDS = 60.0
# A demonstration starts its own servers; only these of the caller's settings still apply.
PASSED_VARIABLES = ("PATH", "HOME", "TZ", "TMPDIR", "DESKARENA_LOG_LEVEL", "DESKARENA_LIVE_FPS")


def demo(  # noqa: PLR0913, PLR0917  a command has as many options as it has
    agent: Annotated[str, typer.Option("--agent", help="Agent name.")] = "oracle",
    benchmark: Annotated[str, typer.Option("--benchmark", help="Benchmark name.")] = "starter",
    tasks: Tasks = None,
    slots: Annotated[int, typer.Option("--slots", min=1, max=256, help="Maximum desktops in parallel.")] = 2,
    timeout: Timeout = None,
    output: OutputForm = Output.TABLE,
) -> None:
    """Start everything on free ports in a temporary folder, complete one run, print it and remove everything."""
    with Interruptible() as signals:
        run = demonstrate(
            {"benchmark": benchmark, "agent": agent, "tasks": tasks or [], "name": "demo"}, slots, timeout, signals
        )
    print_object(as_result(run), output, lambda _: show_run(run))
    verdict = judge(run, None)
    progress(verdict.message)
    if verdict.code is not ExitCode.PASSED:
        raise typer.Exit(verdict.code)


def demonstrate(
    submission: Mapping[str, Any], slots: int, timeout: float | None, signals: Interruptible
) -> Mapping[str, Any]:
    """Start the stack, complete the run and stop the stack; returns the run with its episodes."""
    from backend.cli.embedded.stack import Stack, StackPlan

    with temporary_folder() as folder:
        outer = {name: value for name, value in os.environ.items() if name in PASSED_VARIABLES}
        plan = StackPlan(data=folder, port=0, slots=slots, durable=False, outer=outer)
        progress("Starting everything in a temporary folder ...")
        with Stack(plan, progress, lambda: signals.in_a_hurry) as stack, _supervise(stack), Api(stack.url, "") as api:
            wait_for_worker(api)
            run_id = api.post("/runs", submission)["id"]
            wait_for_run(api, run_id, WaitLimits(timeout=timeout), progress)
            run: Mapping[str, Any] = api.get(f"/runs/{run_id}", include="episodes")
            progress("Stopping ...")
            return run


def as_result(run: Mapping[str, Any]) -> dict[str, Any]:
    """JSON output of `demo`: the run, its episodes and its summary."""
    inner = ("episodes", "summary")
    return {
        "run": {name: value for name, value in run.items() if name not in inner},
        "episodes": run["episodes"],
        "summary": run["summary"],
    }


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Temporary data folder; also removes folders of demonstrations that were killed."""
    from backend.cli.embedded.data_dir import is_in_use

    for stale_folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        status = stale_folder.stat()
        # The owner of a new folder may not have locked it yet.
        if (
            status.st_uid == os.geteuid()
            and time.time() - status.st_mtime > YOUNG_SECONDS
            and not is_in_use(stale_folder)
        ):
            shutil.rmtree(stale_folder, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _supervise(stack: "Stack") -> Iterator[None]:
    """Supervise the stack in a background thread."""
    read_end, write_end = os.pipe()
    thread = threading.Thread(target=stack.supervisor.watch, args=(read_end,), name="supervisor")
    thread.start()
    try:
        yield
    finally:
        os.close(write_end)
        thread.join()
        os.close(read_end)
