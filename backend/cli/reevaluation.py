"""Waits for re-evaluations and prints old and new scores side by side."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import typer

from backend.cli.client import Api
from backend.cli.errors import CliError, ExitCode
from backend.cli.output import Columns, Output, print_object, print_rows, progress
from backend.cli.waiting import PATIENCE_SECONDS, resumable

LOOK_AGAIN_SECONDS = 0.5


def change(row: Mapping[str, Any]) -> str | None:
    """Change of the score, such as `+0.5`."""
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
    "not rescored because": lambda row: row["reason"],
    "episode": lambda row: row["episode_id"],
}


def wait_for_rescores(
    api: Api, path: str, requests: Sequence[Mapping[str, Any]], timeout: float | None
) -> list[Mapping[str, Any]]:
    """Waits until all requests have ended; returns them in their order.

    Args:
        api: The service.
        path: List that contains the requests.
        requests: As the service returned them.
        timeout: Seconds; None waits without limit.

    Raises:
        CliError: Exit code 4 on timeout, 130 on interruption; the work continues in both cases.
    """
    ids = {row["id"] for row in requests}
    deadline = None if timeout is None else time.monotonic() + timeout
    last_waiting = -1
    api.patience = PATIENCE_SECONDS
    with resumable(f"Workers continue. Check them with GET {path}."):
        while True:
            rows = [row for row in api.items(path) if row["id"] in ids]
            waiting = sum(row["state"] == "waiting" for row in rows)
            if waiting != last_waiting:
                progress(f"{len(rows) - waiting}/{len(rows)} rescored")
                last_waiting = waiting
            if not waiting:
                return rows
            if deadline is not None and time.monotonic() > deadline:
                message = f"{waiting} still waiting after {timeout:g} s."
                raise CliError(message, ExitCode.WAIT_TIMED_OUT, code="wait_timeout")
            time.sleep(LOOK_AGAIN_SECONDS)


def show_rescores(reply: Mapping[str, Any], output: Output) -> None:
    """Prints old and new scores; exits with 3 if an episode has no new score."""
    print_object(reply, output, _tables)
    failed = sum(row["state"] == "failed" for row in reply["rescores"])
    changed = sum(row["new_score"] not in {None, row["old_score"]} for row in reply["rescores"])
    refused = len(reply["refused"])
    progress(f"{changed} scores changed, {failed} failed, {refused} could not be rescored")
    if failed or refused:
        raise typer.Exit(ExitCode.INFRASTRUCTURE)


def _tables(reply: Mapping[str, Any]) -> None:
    print_rows(reply["rescores"], Output.TABLE, RESCORES, empty="No episodes were rescored.")
    if reply["refused"]:
        print()
        print_rows(reply["refused"], Output.TABLE, REFUSED)
