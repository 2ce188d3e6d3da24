"""`deskarena notification`: subscriptions of the project, and deliveries."""

from typing import Annotated, Any

import typer

from backend.cli.client import Api
from backend.cli.options import DEFAULT_LIMIT, Limit, OutputForm, Server, an_id
from backend.cli.output import Columns, Output, Row, print_facts, print_object, print_rows, progress
from backend.cli.tables.runs import moment

app = typer.Typer(help="Notify webhooks and e-mail addresses of events in the project.", no_args_is_help=True)
EVENTS = "run.ended, run.regression, run.losses, worker.gone, budget.reached"
LIST = "deskarena notification list"
SubscriptionId = Annotated[
    str, typer.Argument(metavar="SUBSCRIPTION", help="Subscription id.", callback=lambda text: an_id(text, LIST))
]
DeliveryId = Annotated[
    str,
    typer.Argument(
        metavar="DELIVERY",
        help="Delivery id.",
        callback=lambda text: an_id(text, "deskarena notification deliveries"),
    ),
]
SUBSCRIPTIONS: Columns = {
    "subscription": lambda row: row["id"],
    "kind": lambda row: row["kind"],
    "address": lambda row: row["address"],
    "events": lambda row: ", ".join(row["events"]),
    "state": lambda row: "disabled" if row["disabled_at"] else "enabled",
    "last delivered": lambda row: moment(row["succeeded_at"]),
}
DELIVERIES: Columns = {
    "delivery": lambda row: row["id"],
    "event": lambda row: row["type"],
    "state": lambda row: row["state"],
    "when": lambda row: moment(row["created_at"]),
    "attempts": lambda row: len(row["attempts"]),
    "last answer": lambda row: answer_text(row["attempts"][-1]) if row["attempts"] else None,
}


@app.command("list")
def list_subscriptions(output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """List subscriptions."""
    with Api(server) as api:
        print_rows(api.items("/subscriptions"), output, SUBSCRIPTIONS, empty="No subscriptions.")


@app.command()
def add(  # noqa: PLR0913, PLR0917 - its options
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="Address of a webhook (https://...) or e-mail.")],
    event: Annotated[list[str], typer.Option("--event", help=f"Event to report (repeatable): {EVENTS}.")],
    loss_bound: Annotated[
        float | None, typer.Option(min=0, max=1, help="Share of lost episodes above which to notify.")
    ] = None,
    alpha: Annotated[float | None, typer.Option(help="Probability of a false alarm of a regression.")] = None,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Run to compare with (default: the preceding one of the configuration)."),
    ] = None,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Subscribe an address to events. Prints the secret that verifies a webhook, which is not shown again."""
    options = {"loss_bound": loss_bound, "alpha": alpha, "baseline_run_id": baseline}
    body: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    body |= {"kind": "webhook" if "://" in address else "email", "address": address, "events": event}
    with Api(server) as api:
        print_object(api.post("/subscriptions", body), output, _show_created)


@app.command()
def remove(subscription: SubscriptionId, server: Server = None) -> None:
    """Delete a subscription with its deliveries."""
    with Api(server) as api:
        api.delete(f"/subscriptions/{subscription}")
    progress(f"Removed {subscription}.")


@app.command("test")
def send_test(subscription: SubscriptionId, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Send a test. `deliveries` shows whether it arrived."""
    with Api(server) as api:
        print_rows([api.post(f"/subscriptions/{subscription}/test")], output, DELIVERIES)


@app.command()
def deliveries(
    subscription: Annotated[
        str | None, typer.Option("--subscription", metavar="ID", help="Only deliveries of this subscription.")
    ] = None,
    limit: Limit = DEFAULT_LIMIT,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """List what was sent in the last 30 days, newest first."""
    subscription_id = None if subscription is None else an_id(subscription, LIST)
    with Api(server) as api:
        rows = api.items("/deliveries", limit, subscription=subscription_id)
        print_rows(rows, output, DELIVERIES, empty="Nothing was sent.")


@app.command()
def redeliver(delivery: DeliveryId, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Send an ended delivery again, with the same id."""
    with Api(server) as api:
        print_rows([api.post(f"/deliveries/{delivery}/redeliver")], output, DELIVERIES)


def answer_text(attempt: Row) -> str:
    """Result of a delivery attempt: the status, and the error or the beginning of the answer."""
    return " ".join(str(part) for part in (attempt["status"], attempt["error"] or attempt["answer"]) if part)


def _show_created(row: Row) -> None:
    facts = {"subscription": row["id"], "address": row["address"], "events": ", ".join(row["events"])}
    print_facts(facts | ({"secret": row["secret"]} if row["secret"] else {}))
