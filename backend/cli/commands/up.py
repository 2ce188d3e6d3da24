"""`deskarena up`: the whole service on this machine, until Ctrl-C."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from backend.addresses import DEFAULT_PORT
from backend.cli.errors import StackError
from backend.cli.interrupt import Interruptible, StopRequested
from backend.cli.options import Data, default_data
from backend.cli.output import progress

if TYPE_CHECKING:
    from backend.cli.embedded.stack import Stack, StackPlan


def up(
    host: Annotated[
        str,
        typer.Option(
            "--host",
            envvar="DESKARENA_HOST",
            help="Address to listen on; other than loopback needs DESKARENA_ACCOUNTS or DESKARENA_TOKEN.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            "--port", envvar="DESKARENA_PORT", min=0, max=65535, help=("Port to listen on; 0 takes a free port.")
        ),
    ] = DEFAULT_PORT,
    data: Data = None,
    slots: Annotated[
        int | None,
        typer.Option(
            "--slots",
            envvar="DESKARENA_SLOTS",
            min=0,
            max=256,
            show_default="as many as the machine has room for",
            help="Maximum desktops in parallel; 0 starts no worker.",
        ),
    ] = None,
) -> None:
    """Run everything on this machine: database, broker, API and pages, worker. Ctrl-C stops it."""
    from backend.cli.embedded.stack import StackPlan

    plan = StackPlan(data=data or default_data(), host=host, port=port, slots=slots, outer=dict(os.environ))
    with Interruptible() as signals:
        try:
            run_stack(plan, signals)
        except StopRequested:
            progress("Stopped.")


def run_stack(plan: "StackPlan", signals: Interruptible) -> None:
    """Start the stack, print its address and supervise it until a signal arrives."""
    from backend.cli.embedded.stack import Stack

    warn_of_unknown(plan.outer)
    progress("Starting ...")
    with Stack(plan, progress, lambda: signals.in_a_hurry) as stack:
        progress(status(stack.url, plan.data.expanduser().absolute(), plan.slots))
        if link := stack.first_link:
            progress(f"First sign-in (once, within 24 hours): {link}")
        try:
            show_something(stack)
            stack.supervisor.watch()
        finally:
            progress("Stopping ... (Ctrl-C again to kill)")


def warn_of_unknown(outer: Mapping[str, str]) -> None:
    """Warn of variables that look like settings but are not."""
    # Loading settings takes 0.3 s, which `deskarena --help` does not need.
    from backend.config import unknown_variables

    for warning in unknown_variables(outer):
        progress(warning)


def show_something(stack: "Stack") -> None:
    """Submit the demonstration run of a new installation. A failure is only reported."""
    try:
        stack.demonstrate()
    except StackError as error:
        progress(str(error))


def status(url: str, data: Path, slots: int | None) -> str:
    """Summary shown at the top of the terminal."""
    work = _work(slots)
    return (
        f"Deskarena runs at {url}\n  data      {data}\n  logs      {data / 'logs'}\n  desktops "
        f" {work}\nPress Ctrl-C to stop."
    )


def _work(slots: int | None) -> str:
    if slots is None:
        return "as many in parallel as the machine has room for; see the workers page"
    if not slots:
        return "none (--slots 0): runs wait for a worker"
    return f"{slots} in parallel"
