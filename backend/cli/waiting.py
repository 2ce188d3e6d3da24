"""Waits for a run's end and reports progress; the run does not depend on the waiting process."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from backend.cli.client import Api
from backend.cli.errors import CliError, ExitCode, UsageError
from backend.cli.exit_code import ENDED

LOOK_AGAIN_SECONDS = 1.0
AWAY_SECONDS = 60.0
WORKER_SECONDS = 60.0
WORKER_LOOK_SECONDS = 0.1


def wait_for_run(api: Api, run_id: str, timeout: float | None, say: Callable[[str], None]) -> Mapping[str, Any]:
    """Polls a run until it has ended; returns it without episodes.

    Tolerates a service that is temporarily unavailable.

    Raises:
        CliError: Exit code 4 after `timeout` seconds, 3 if the service stays unavailable.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    last_counts: object = None
    while True:
        run = _patiently(lambda: api.get(f"/runs/{run_id}"))
        if (ended := ended_counts(run)) != last_counts:
            say(progress_line(run))
            last_counts = ended
        if run["status"] in ENDED:
            return run
        left = LOOK_AGAIN_SECONDS if deadline is None else deadline - time.monotonic()
        if left <= 0:
            message = (
                f"Still {run['status']} after {timeout:g} s; the run continues. Watch it with `{attach(api, run_id)}`."
            )
            raise CliError(message, ExitCode.WAIT_TIMED_OUT, code="wait_timeout")
        time.sleep(min(LOOK_AGAIN_SECONDS, left))


def wait_for_worker(api: Api) -> None:
    """Waits until a worker is online, since workers determine what can run.

    Raises:
        CliError: No worker is online after a minute.
    """
    deadline = time.monotonic() + WORKER_SECONDS
    while not any(worker["state"] == "online" for worker in api.items("/workers")):
        if time.monotonic() > deadline:
            raise CliError(
                f"No worker came online within {WORKER_SECONDS:g} s. See the worker's log.", code="no_worker_online"
            )
        time.sleep(WORKER_LOOK_SECONDS)


def attach(api: Api, run_id: str) -> str:
    """Command that watches the run."""
    return f"deskarena run watch {run_id} --server {api.server}"


def ended_counts(run: Mapping[str, Any]) -> tuple[Any, ...]:
    """Counts that justify a progress line when they change: the number of running episodes is not among them."""
    return run["status"], *(
        run["counts"].get(name, 0)
        for name in ("scored", "human_assisted", "handed_in", "quarantined", "lost", "cancelled", "not_runnable")
    )


def progress_line(run: Mapping[str, Any]) -> str:
    """A run's progress on one line."""
    counts, summary = run["counts"], run["summary"]
    ended = counts["scored"] + counts.get("human_assisted", 0) + counts.get("handed_in", 0)
    ended += counts["lost"] + counts["cancelled"] + counts.get("quarantined", 0)
    all_of_them = sum(counts.values()) - counts["not_runnable"]
    parts = [f"{ended}/{all_of_them} ended", f"{summary['solved']} solved", f"{counts['running']} running"]
    parts += [
        f"{counts[name]} {name.replace('_', ' ')}"
        for name in ("human_assisted", "handed_in", "quarantined", "lost", "cancelled", "not_runnable")
        if counts.get(name)
    ]
    return f"{run['status']}: " + ", ".join(parts)


def _patiently(ask: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    deadline = time.monotonic() + AWAY_SECONDS
    while True:
        try:
            return ask()
        except UsageError:
            raise
        except CliError:
            if time.monotonic() > deadline:
                raise
        time.sleep(LOOK_AGAIN_SECONDS)
