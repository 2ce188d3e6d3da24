"""`deskarena worker`: list workers and nodes, drain workers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from textwrap import shorten
from typing import Annotated, Any

import typer

from backend.cli.client import Api
from backend.cli.errors import UsageError
from backend.cli.options import OutputForm, Server
from backend.cli.output import Columns, Output, print_rows
from backend.cli.tables.runs import moment

app = typer.Typer(help="Inspect and drain workers, inspect nodes.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="WORKER", help="Name of the worker, as `worker list` shows it.")]
REASONS, REASON = 3, 120
"""Maximum number of reasons in a table cell, and maximum characters of each."""
WORKERS: Columns = {
    "worker": lambda worker: worker["name"],
    "state": lambda worker: worker["state"],
    "node": lambda worker: worker["node"],
    "pid": lambda worker: worker["pid"],
    "slots": lambda worker: slots(worker["slots"]) or clusters_served(worker["capabilities"]),
    "why": lambda worker: why(worker["capabilities"].get("hindrance", ""), worker["slots"]),
    "heartbeat": lambda worker: moment(worker["heartbeat_at"]),
}


NODES: Columns = {
    "cluster": lambda node: node["cluster"] or "(this machine)",
    "node": lambda node: node["name"] or "(any)",
    "state": lambda node: node["state"],
    "slots": lambda node: slots(node["slots"]),
    "leased by": lambda node: ", ".join(sorted({slot["worker"] for slot in node["slots"] if slot["worker"]})),
    "why": lambda node: why(node["reason"], node["slots"]),
}


@app.callback()
def group() -> None:
    """Inspect workers and nodes."""


@app.command("list")
def list_workers(output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """List workers and their slots."""
    with Api(server) as api:
        print_rows(api.items("/workers"), output, WORKERS, empty=("No workers. Start one with `deskarena up`."))


@app.command()
def drain(name: Name, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Drain a worker: it gets no more work and finishes what it has, until it is resumed or starts again."""
    _move(name, "drain", output, server)


@app.command()
def resume(name: Name, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Give a drained worker work again."""
    _move(name, "resume", output, server)


def _move(name: str, move: str, output: Output, server: str | None) -> None:
    with Api(server) as api:
        ids = [row["id"] for row in api.items("/workers") if row["name"] == name and row["state"] != "offline"]
        if not ids:
            raise UsageError(f"no worker {name!r} is online: see `deskarena worker list`", code="worker_name_unknown")
        rows = [api.post(f"/workers/{worker_id}/{move}", {}) for worker_id in ids]
    print_rows(rows, output, WORKERS)


@app.command("nodes")
def list_nodes(output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """List machines and cluster nodes: their slots, which worker leases them, and why one is unavailable."""
    with Api(server) as api:
        print_rows(api.items("/nodes"), output, NODES, empty="No nodes. Start a worker with `deskarena up`.")


def clusters_served(capabilities: Mapping[str, Any]) -> str:
    """Clusters that a worker serves, such as `k8s: slots of prod`."""
    offers = capabilities.get("providers", {})
    return "; ".join(f"{name}: slots of {offer['cluster']}" for name, offer in offers.items() if offer.get("cluster"))


def why(own_reason: str, slots: Sequence[Mapping[str, Any]]) -> str:
    """The reason of the whole, then reasons of unavailable slots, most frequent first."""
    counts = Counter(
        (slot["state"], slot["reason"]) for slot in slots if slot["state"] != "leased" and slot.get("reason")
    )
    parts = [f"{number} {state}: {shorten(reason, REASON)}" for (state, reason), number in counts.most_common(REASONS)]
    more = [f"and {len(counts) - REASONS} more reasons"] if len(counts) > REASONS else []
    return "; ".join([part for part in (own_reason, *parts) if part] + more)


def slots(rows: list[dict[str, str]]) -> str:
    """Slots by provider and state, such as `local: 1 free, 1 used`."""
    counts: dict[str, dict[str, int]] = {}
    for slot in rows:
        states = counts.setdefault(slot["provider"], {})
        states[slot["state"]] = states.get(slot["state"], 0) + 1
    return "; ".join(
        f"{provider}: " + ", ".join(f"{number} {state}" for state, number in sorted(states.items()))
        for provider, states in sorted(counts.items())
    )
