"""Wait for a run's end and tell how far it is; the run goes on whatever happens to the one who waits."""

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
    """Look at the run until it has ended; gives it as the API does, without episodes.

    A service that is away for a while is waited for.

    Raises:
        CliError: With exit code 4 after `timeout` seconds, 3 if the service stays away.
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
                f"Still {run['status']} after {timeout:g} s; the run goes on. Watch it again: {attach(api, run_id)}"
            )
            raise CliError(message, ExitCode.WAIT_TIMED_OUT)
        time.sleep(min(LOOK_AGAIN_SECONDS, left))


def wait_for_worker(api: Api) -> None:
    """Wait until a worker is online, for it says what can run.

    Raises:
        CliError: If none is after a minute.
    """
    deadline = time.monotonic() + WORKER_SECONDS
    while not any(worker["state"] == "online" for worker in api.items("/workers")):
        if time.monotonic() > deadline:
            raise CliError(f"No worker has come online in {WORKER_SECONDS:g} s; see its log.")
        time.sleep(WORKER_LOOK_SECONDS)


def attach(api: Api, run_id: str) -> str:
    """The command that watches the run again."""
    return f"deskarena run watch {run_id} --server {api.server}"


def ended_counts(run: Mapping[str, Any]) -> tuple[Any, ...]:
    """What is worth a new line when it changes: not how many episodes run just now."""
    return run["status"], *(
        run["counts"].get(name, 0) for name in ("scored", "mixed", "handed_in", "lost", "cancelled", "not_runnable")
    )


def progress_line(run: Mapping[str, Any]) -> str:
    """How far a run is, in one line."""
    counts, summary = run["counts"], run["summary"]
    ended = counts["scored"] + counts.get("mixed", 0) + counts.get("handed_in", 0)
    ended += counts["lost"] + counts["cancelled"]
    all_of_them = sum(counts.values()) - counts["not_runnable"]
    parts = [f"{ended}/{all_of_them} ended", f"{summary['solved']} solved", f"{counts['running']} running"]
    parts += [
        f"{counts[name]} {name.replace('_', ' ')}"
        for name in ("mixed", "handed_in", "lost", "cancelled", "not_runnable")
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
