"""`deskarena worker`: who runs attempts, and what they can do."""

import typer

from backend.cli.client import Api
from backend.cli.options import OutputForm, Server
from backend.cli.output import Columns, Output, print_rows
from backend.cli.show import moment

app = typer.Typer(help="Look at workers.", no_args_is_help=True)
WORKERS: Columns = {
    "worker": lambda worker: worker["name"],
    "state": lambda worker: worker["state"],
    "node": lambda worker: worker["node"],
    "pid": lambda worker: worker["pid"],
    "slots": lambda worker: slots(worker["slots"]),
    "heartbeat": lambda worker: moment(worker["heartbeat_at"]),
}


@app.callback()
def group() -> None:
    """Look at workers."""


@app.command("list")
def list_workers(output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """List workers with their slots."""
    with Api(server) as api:
        print_rows(api.items("/workers"), output, WORKERS, empty="no worker has announced itself: `deskarena up`")


def slots(found: list[dict[str, str]]) -> str:
    """Slots by provider and state, such as `local: 1 free, 1 used`."""
    counts: dict[str, dict[str, int]] = {}
    for slot in found:
        states = counts.setdefault(slot["provider"], {})
        states[slot["state"]] = states.get(slot["state"], 0) + 1
    return "; ".join(
        f"{provider}: " + ", ".join(f"{number} {state}" for state, number in sorted(states.items()))
        for provider, states in sorted(counts.items())
    )
