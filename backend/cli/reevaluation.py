"""Wait until stored evidence has been scored again, and show old and new side by side."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import typer

from backend.cli.client import Api
from backend.cli.errors import CliError, ExitCode
from backend.cli.output import Columns, Output, print_object, print_rows, progress

LOOK_AGAIN_SECONDS = 0.5


def change(row: Mapping[str, Any]) -> str | None:
    """How the score changed, such as `+0.5`."""
    if row["new_score"] is None or row["old_score"] is None:
        return None
    difference = row["new_score"] - row["old_score"]
    return f"{difference:+.3g}" if difference else "same"


RESCORES: Columns = {
    "task": lambda row: row["task"],
    "version": lambda row: row["task_set_version"],
    "judge": lambda row: (row.get("judge") or {}).get("model"),
    "state": lambda row: row["state"],
    "old score": lambda row: row["old_score"],
    "new score": lambda row: row["new_score"],
    "change": change,
    "counts": lambda row: "new" if row["make_current"] and row["state"] == "done" else "old",
    "why": lambda row: row["message"] or None,
    "episode": lambda row: row["episode_id"],
}
REFUSED: Columns = {
    "task": lambda row: row["task"],
    "cannot be scored again": lambda row: row["reason"],
    "episode": lambda row: row["episode_id"],
}


def wait_for_rescores(
    api: Api, path: str, requests: Sequence[Mapping[str, Any]], timeout: float | None
) -> list[Mapping[str, Any]]:
    """The requests once all have ended, in the order of asking.

    Args:
        api: the service.
        path: the list that they are in.
        requests: as the service gave them.
        timeout: seconds; None waits for ever.

    Raises:
        CliError: with exit code 4 when the time is over, 130 when interrupted; the work goes on in both cases.
    """
    ids = {row["id"] for row in requests}
    deadline = None if timeout is None else time.monotonic() + timeout
    last_waiting = -1
    try:
        while True:
            rows = [row for row in api.items(path) if row["id"] in ids]
            waiting = sum(row["state"] == "waiting" for row in rows)
            if waiting != last_waiting:
                progress(f"{len(rows) - waiting}/{len(rows)} scored again")
                last_waiting = waiting
            if not waiting:
                return rows
            if deadline is not None and time.monotonic() > deadline:
                message = f"{waiting} still wait after {timeout:g} s; workers go on with them. Ask again: GET {path}"
                raise CliError(message, ExitCode.WAIT_TIMED_OUT)
            time.sleep(LOOK_AGAIN_SECONDS)
    except KeyboardInterrupt:
        raise CliError(f"Interrupted; workers go on. Ask again: GET {path}", ExitCode.INTERRUPTED) from None


def show_rescores(reply: Mapping[str, Any], output: Output) -> None:
    """Print old and new scores, and exit with 3 if there is an episode without a new verdict."""
    print_object(reply, output, _tables)
    failed = sum(row["state"] == "failed" for row in reply["rescores"])
    changed = sum(row["new_score"] not in {None, row["old_score"]} for row in reply["rescores"])
    refused = len(reply["refused"])
    progress(f"{changed} scores changed, {failed} without a verdict, {refused} that could not be scored again")
    if failed or refused:
        raise typer.Exit(ExitCode.INFRASTRUCTURE)


def _tables(reply: Mapping[str, Any]) -> None:
    print_rows(reply["rescores"], Output.TABLE, RESCORES, empty="nothing was scored again")
    if reply["refused"]:
        print()
        print_rows(reply["refused"], Output.TABLE, REFUSED)
