"""`deskarena budget`: what the project may spend."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from operator import itemgetter
from typing import Annotated

import typer

from backend.cli.client import Api
from backend.cli.errors import UsageError
from backend.cli.options import OutputForm, Server
from backend.cli.output import Output, Row, print_rows

app = typer.Typer(help="Show and change the project's budgets.", no_args_is_help=True)
NONE = "none"
MEASURES = {"usd": "USD", "tokens": "tokens", "desktop_hours": "desktop hours"}


class Period(StrEnum):
    """The things that can have a budget."""

    MONTH = "month"
    TOTAL = "total"


@app.command()
def show(output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Show the project's budgets, and what was spent."""
    with Api(server) as api:
        print_rows(api.get("/budgets")["items"], output, COLUMNS)


@app.command("set")
def set_budget(  # noqa: PLR0913, PLR0917 - its options
    period: Annotated[Period, typer.Argument(help="Each calendar month, or all time.")],
    usd: Annotated[str | None, typer.Option(metavar="USD", help="US dollars, or 'none'.")] = None,
    tokens: Annotated[str | None, typer.Option(metavar="N", help="Tokens, or 'none'.")] = None,
    desktop_hours: Annotated[str | None, typer.Option(metavar="HOURS", help="Desktop hours, or 'none'.")] = None,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Change a budget (administrators). When it is reached, running episodes end and the rest waits."""
    options = {"usd": usd, "tokens": tokens, "desktop_hours": desktop_hours}
    body = {name: _number(name, text) for name, text in options.items() if text is not None}
    if not body:
        raise UsageError("Nothing to change. Give --usd, --tokens or --desktop-hours.", code="option_missing")
    with Api(server) as api:
        print_rows([api.patch(f"/budgets/{period}", body)], output, COLUMNS)


def _number(name: str, text: str) -> float | int | None:
    if text == NONE:
        return None
    try:
        return int(text) if name == "tokens" else float(text)
    except ValueError:
        option = f"--{name.replace('_', '-')}"
        raise UsageError(f"{option}: {text!r} is neither a number nor 'none'.", code="invalid_option") from None


def _cell(name: str) -> Callable[[Row], str]:
    def amount(row: Row) -> str:
        form = ",.0f" if name == "tokens" else ",.2f"
        if row[f"spent_{name}"] is None:
            return "not counted, no limit"
        spent = format(row[f"spent_{name}"], form)
        return f"{spent}, no limit" if row[name] is None else f"{spent} of {row[name]:{form}}"

    return amount


COLUMNS: Mapping[str, Callable[[Row], object]] = {
    "budget": itemgetter("period"),
    **{words: _cell(name) for name, words in MEASURES.items()},
    "reached": itemgetter("reached"),
}
