"""Waits for a run's end and reports progress; the run does not depend on the waiting process."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from backend.cli.client import Api
from backend.cli.errors import CliError, ExitCode, ServiceAway, UsageError
from backend.cli.exit_code import ENDED
from backend.cli.interrupt import Interruptible, StopRequested

LOOK_AGAIN_SECONDS = 1.0
LONGEST_POLL_SECONDS = 15.0
"""A poll that takes longer is repeated: the service may be frozen."""
PATIENCE_SECONDS = 300.0
WORKER_SECONDS = 60.0
WORKER_LOOK_SECONDS = 0.1


@dataclass(frozen=True, kw_only=True)
class WaitLimits:
    """How long a command waits.

    Attributes:
        timeout: Seconds for the end of the run; None waits without limit.
        patience: Seconds for a service that does not answer.
    """

    timeout: float | None = None
    patience: float = PATIENCE_SECONDS

    @property
    def poll_seconds(self) -> float:
        """For the answer to one poll: several fit into the patience."""
        return min(LONGEST_POLL_SECONDS, max(1.0, self.patience / 20))


def wait_for_run(api: Api, run_id: str, limits: WaitLimits, say: Callable[[str], None]) -> Mapping[str, Any]:
    """Polls a run until it has ended; returns it without episodes.

    Tolerates a service that is temporarily unavailable, also one that accepts connections and never answers.

    Raises:
        CliError: Exit code 4 after the timeout, 3 if the service stays unavailable.
    """
    now = time.monotonic()
    deadline = None if limits.timeout is None else now + limits.timeout
    last_answer, last_counts, status = now, None, "waiting"
    while True:
        try:
            run: Mapping[str, Any] = api.poll(f"/runs/{run_id}", limits.poll_seconds)
        except ServiceAway as error:
            if time.monotonic() - last_answer > limits.patience:
                raise
            if last_counts != (outage := ("away", str(error))):
                say(f"{error} Trying for {limits.patience:g} s.")
                last_counts = outage
        else:
            last_answer, status = time.monotonic(), run["status"]
            if (counts := ended_counts(run)) != last_counts:
                say(progress_line(run))
                last_counts = counts
            if status in ENDED:
                return run
        remaining = LOOK_AGAIN_SECONDS if deadline is None else deadline - time.monotonic()
        if remaining <= 0:
            raise CliError(f"Still {status} after {limits.timeout:g} s.", ExitCode.WAIT_TIMED_OUT, code="wait_timeout")
        time.sleep(min(LOOK_AGAIN_SECONDS, remaining))


@contextmanager
def resumable(message: str) -> Iterator[None]:
    """Ends the block on SIGINT, SIGTERM and SIGHUP; every error that is not the command's own says how to go on.

    Args:
        message: What goes on without this command, and how to watch it.

    Raises:
        CliError: Exit code 130 on a signal.
    """
    try:
        with Interruptible():
            yield
    except (KeyboardInterrupt, StopRequested):
        raise CliError(f"Interrupted. {message}", ExitCode.INTERRUPTED, code="interrupted") from None
    except UsageError:
        raise
    except CliError as error:
        raise error.with_advice(message) from None


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
