"""`deskarena retention`: how long a project's data are kept, and how much it may store."""

from typing import Annotated, Any

import typer

from backend.cli.client import Api
from backend.cli.errors import UsageError
from backend.cli.options import OutputForm, Server
from backend.cli.output import Output, Row, print_object

app = typer.Typer(help="Show and change how long data are kept.", no_args_is_help=True)
RULES = {"run_days": "runs", "draft_days": "drafts", "screen_days": "screens", "disk_quota_mib": "quota (MiB)"}
NEVER = "none"
Rule = Annotated[str | None, typer.Option(metavar="DAYS", help="Age in days, or 'none'.")]
DaysOption = Annotated[
    int | None, typer.Option(min=1, metavar="DAYS", help="Age in days instead of the project's rule.")
]


@app.command()
def show(output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Show the project's rules, and how much it stores."""
    with Api(server) as api:
        print_object(api.get("/retention"), output, _show)


@app.command("set")
def set_rules(  # noqa: PLR0913, PLR0917 - its options
    runs: Rule = None,
    drafts: Rule = None,
    screens: Rule = None,
    quota: Annotated[
        str | None, typer.Option("--quota", metavar="MIB", help="Disk quota in MiB, or 'none' (administrators).")
    ] = None,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Change rules. What is older than they allow is deleted within the hour: see `preview` first."""
    options = {"run_days": runs, "draft_days": drafts, "screen_days": screens, "disk_quota_mib": quota}
    body = {name: _number(name, text) for name, text in options.items() if text is not None}
    if not body:
        raise UsageError("Nothing to change. Give --runs, --drafts, --screens or --quota.", code="option_missing")
    with Api(server) as api:
        print_object(api.patch("/retention", body), output, _show)


@app.command()
def preview(
    runs: DaysOption = None,
    drafts: DaysOption = None,
    screens: DaysOption = None,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Preview what the rules, or those of the options, would remove now. Removes nothing."""
    with Api(server) as api:
        row = api.get("/retention/preview", run_days=runs, draft_days=drafts, screen_days=screens)
        print_object(row, output, _show_preview)


def _number(name: str, text: str) -> int | None:
    if text == NEVER:
        return None
    if not (text.isascii() and text.isdigit()):
        raise UsageError(f"{RULES[name]}: {text!r} is neither a whole number nor 'none'.", code="invalid_option")
    return int(text)


def _show(row: Row) -> None:
    for name, words in RULES.items():
        print(f"{words:<12} {NEVER if row[name] is None else row[name]}")
    stored = "not counted yet" if row["stored_bytes"] is None else f"{row['stored_bytes'] / 2**20:,.0f} MiB"
    print(f"{'stored':<12} {stored}")


def _show_preview(row: Row) -> None:
    counts: dict[str, Any] = row["counts"]
    print(", ".join(f"{number} {kind}" for kind, number in counts.items()))
    for kind in ("runs", "studies", "drafts"):
        for item in row[kind]:
            print(f"{kind:<8} {item['id']}  {item['at'][:10]}  {item['name']}")
