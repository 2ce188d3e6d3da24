"""Options that several commands share."""

from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from backend.cli.client import DEFAULT_SERVER
from backend.cli.output import Output

Server = Annotated[
    str | None,
    typer.Option(
        "--server", envvar="DESKARENA_SERVER", show_default=DEFAULT_SERVER, help="Address of the Deskarena service."
    ),
]
OutputForm = Annotated[Output, typer.Option("--output", "-o", help="Form of the result.")]
Data = Annotated[Path | None, typer.Option("--data", envvar="DESKARENA_DATA_DIR", help="Data folder.")]
Limit = Annotated[int, typer.Option("--limit", min=1, help="At most so many.")]
RunId = Annotated[
    str, typer.Argument(metavar="RUN", help="The run's id.", callback=lambda text: an_id(text, "deskarena run list"))
]
EpisodeId = Annotated[
    str,
    typer.Argument(
        metavar="EPISODE", help="The episode's id.", callback=lambda text: an_id(text, "deskarena run show RUN")
    ),
]
Tasks = Annotated[
    list[str] | None,
    typer.Option(
        "--tasks",
        metavar="GLOB",
        help="Only tasks whose domain/name matches, or @NAME for a selection; may be given several times.",
    ),
]
Priority = Annotated[
    int | None, typer.Option("--priority", min=-10, max=10, help="Runs with a higher priority go first (default: 0).")
]
Concurrency = Annotated[
    int | None, typer.Option("--concurrency", min=1, help="Maximum concurrent episodes (default: unlimited).")
]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until the run has ended.")]
Timeout = Annotated[
    float | None, typer.Option("--timeout", min=0.1, metavar="SECONDS", help="Stop waiting then; the run goes on.")
]
Junit = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", help="Write the episodes as JUnit XML; implies --wait.")
]
FailUnder = Annotated[
    float | None,
    typer.Option("--fail-under", min=0, max=1, help="Exit with 1 if the success rate is lower; implies --wait."),
]


TaskSet = Annotated[
    str,
    typer.Option("--task-set", metavar="own|latest", help="Judge by the episode's own task, or by the newest one."),
]
MakeCurrent = Annotated[
    bool | None,
    typer.Option(
        "--make-current/--keep-current",
        help="Whether the new score counts. Default: yes, unless a newer task or another judge gives it.",
        show_default=False,
    ),
]
Rejudge = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        metavar="K=V",
        help="Another model looks at the kept pictures: endpoint=openai, model=NAME, votes=3, temperature=0.",
    ),
]
RescoreTimeout = Annotated[
    float | None, typer.Option("--timeout", min=0.1, metavar="SECONDS", help="Stop waiting then; workers go on.")
]


def an_id(text: str, shown_by: str) -> str:
    """The same, if it is one.

    Raises:
        typer.BadParameter: it is none; says which command shows ids.
    """
    try:
        UUID(text)
    except ValueError:
        raise typer.BadParameter(f"{text[:60]!r} is no id; `{shown_by}` shows them") from None
    return text


def default_data() -> Path:
    """The data folder where none is named."""
    # Settings take a third of a second to load, which commands that only talk to a service need not wait for.
    from backend.config import default_data_dir

    return default_data_dir()
