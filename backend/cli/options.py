"""Options shared by several commands."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeVar
from uuid import UUID

import typer

from backend.cli.client import DEFAULT_SERVER
from backend.cli.output import ErrorForm, Output

F = TypeVar("F", bound=StrEnum)


def note_output(context: typer.Context, value: F) -> F:
    """Callback of `--output`: errors are printed as JSON if results are."""
    if isinstance(context.obj, ErrorForm):
        context.obj.as_json = value in {Output.JSON, Output.JSONL}
    return value


Server = Annotated[
    str | None,
    typer.Option(
        "--server", envvar="DESKARENA_SERVER", show_default=DEFAULT_SERVER, help="Address of the Deskarena service."
    ),
]
OutputForm = Annotated[Output, typer.Option("--output", "-o", help="Output format.", callback=note_output)]
Data = Annotated[
    Path | None, typer.Option("--data", envvar="DESKARENA_DATA_DIR", help=("Data folder (default: docs/settings.md)."))
]
DEFAULT_LIMIT = 50
Limit = Annotated[int, typer.Option("--limit", min=1, help="Maximum number of rows.")]
RunId = Annotated[
    str, typer.Argument(metavar="RUN", help="Run id.", callback=lambda text: an_id(text, "deskarena run list"))
]
EpisodeId = Annotated[
    str,
    typer.Argument(metavar="EPISODE", help="Episode id.", callback=lambda text: an_id(text, "deskarena run show RUN")),
]
Tasks = Annotated[
    list[str] | None,
    typer.Option(
        "--tasks",
        metavar="GLOB",
        help="Only tasks whose domain/name matches, or @NAME for a selection (repeatable).",
    ),
]
Priority = Annotated[
    int | None, typer.Option("--priority", min=-10, max=10, help="Runs with a higher priority go first (default: 0).")
]
Concurrency = Annotated[
    int | None, typer.Option("--concurrency", min=1, help="Maximum concurrent episodes (default: unlimited).")
]
RunUsd = Annotated[
    float | None,
    typer.Option("--run-usd", min=0, help="Budget of the whole run in US dollars; beyond it, episodes wait."),
]
RunTokens = Annotated[int | None, typer.Option("--run-tokens", min=0, help="Budget of the whole run in tokens.")]
RunDesktopHours = Annotated[
    float | None, typer.Option("--run-desktop-hours", min=0, help="Budget of the whole run in desktop hours.")
]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until the run has ended.")]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", min=0.1, metavar="SECONDS", help=("Maximum seconds to wait; work continues afterwards.")),
]
Patience = Annotated[
    float | None,
    typer.Option(
        "--patience",
        min=0,
        metavar="SECONDS",
        help="Seconds to wait for a service that does not answer (default: 300 while waiting for the run, else 0).",
    ),
]
CancelOnInterrupt = Annotated[
    bool,
    typer.Option("--cancel-on-interrupt", help="Cancel the run on Ctrl-C, SIGTERM and SIGHUP (default: it continues)."),
]
Junit = Annotated[
    Path | None,
    typer.Option("--junit", metavar="FILE", help=("Write the episodes as JUnit XML to this file; implies --wait.")),
]
FailUnder = Annotated[
    float | None,
    typer.Option("--fail-under", min=0, max=1, help=("Exit with 1 if the success rate is below this; implies --wait.")),
]
Baseline = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="RUN",
        help="Exit with 1 if the run scores significantly lower than this one on their common tasks; implies --wait.",
        callback=lambda text: text and an_id(text, "deskarena run list"),
    ),
]
Alpha = Annotated[
    float, typer.Option("--alpha", min=0.0001, max=0.5, help="Probability of a false alarm of --baseline.")
]
SummaryFile = Annotated[
    Path | None,
    typer.Option("--summary", metavar="FILE", help="Append the result as Markdown to this file; implies --wait."),
]


TaskSet = Annotated[
    str,
    typer.Option(
        "--task-set", metavar="own|latest", help=("Task version to evaluate by: the episode's own, or the latest.")
    ),
]
MakeCurrent = Annotated[
    bool | None,
    typer.Option(
        "--make-current/--keep-current",
        help="Whether the new score counts (default: yes, unless a newer task or another judge produced it).",
        show_default=False,
    ),
]
Rejudge = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        metavar="K=V",
        help="Judge the stored pictures with another model: endpoint=openai, model=NAME, votes=3, "
        "temperature=0 (repeatable).",
    ),
]
RescoreTimeout = Annotated[
    float | None,
    typer.Option("--timeout", min=0.1, metavar="SECONDS", help=("Maximum seconds to wait; work continues afterwards.")),
]


def an_id(text: str, shown_by: str) -> str:
    """The text if it is a UUID.

    Raises:
        typer.BadParameter: It is not; names the command that lists ids.
    """
    try:
        UUID(text)
    except ValueError:
        raise typer.BadParameter(f"{text[:60]!r} is not an id. List ids with `{shown_by}`.") from None
    return text


def default_data() -> Path:
    """The default data folder."""
    # Loading settings takes 0.3 s, which commands that only talk to a service do not need.
    from backend.config import default_data_dir

    return default_data_dir()
