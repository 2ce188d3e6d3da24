"""`deskarena task`: write, review and publish tasks of your own."""

import json
import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from backend.cli.client import Api
from backend.cli.errors import CliError, ExitCode, UsageError
from backend.cli.options import DEFAULT_LIMIT, Limit, OutputForm, Server, Timeout, Wait
from backend.cli.output import Output, print_object, print_rows, progress
from backend.cli.tables.drafts import DRAFTS, REQUESTS, show_draft, show_review, tried_words
from backend.cli.waiting import PATIENCE_SECONDS, resumable

app = typer.Typer(help="Write, record, test, review and publish tasks of your own.", no_args_is_help=True)
LOOK_AGAIN_SECONDS = 1.0

DraftId = Annotated[str, typer.Argument(metavar="DRAFT", help="Draft id.")]
By = Annotated[str, typer.Option("--by", envvar="DESKARENA_PERSON", help="Your name (default: `local`).")]
Benchmark = Annotated[str, typer.Option("--benchmark", help="Benchmark to add the task to.")]
Content = Annotated[Path, typer.Argument(metavar="FILE", help="Draft content as JSON; - reads stdin.")]
Comment = Annotated[str, typer.Option("--comment", help="Comment for the author.")]
Version = Annotated[
    int | None, typer.Option("--version", min=1, help="Version that you reviewed (default: the newest).")
]


class DraftStateOption(StrEnum):
    """States of a draft."""

    DRAFT = "draft"
    IN_REVIEW = "in_review"
    APPROVED = "approved"
    REJECTED = "rejected"


class RejectionOption(StrEnum):
    """Reasons for rejecting a draft."""

    AMBIGUOUS_INSTRUCTION = "ambiguous_instruction"
    SUBJECTIVE_CRITERION = "subjective_criterion"
    UNAVAILABLE = "unavailable"
    NEAR_DUPLICATE = "near_duplicate"


class RecordingOption(StrEnum):
    """Part of a draft that a recording becomes."""

    SETUP = "setup"
    ORACLE = "oracle"


@app.command()
def new(
    file: Content,
    benchmark: Benchmark = "own",
    by: By = "",
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Create a draft from a file with at least `domain` and `name`; prints its id."""
    body = {"content": read(file), "benchmark": benchmark, "by": by}
    with Api(server) as api:
        print_object(api.post("/drafts", body), output, lambda row: print(row["id"]))


@app.command()
def edit(draft: DraftId, file: Content, by: By = "", output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Create a new version of a draft. Earlier reviews no longer count."""
    with Api(server) as api:
        print_object(api.put(f"/drafts/{draft}", {"content": read(file), "by": by}), output, show_draft)


@app.command("list")
def list_drafts(
    state: Annotated[
        list[DraftStateOption] | None, typer.Option("--state", help=("Only drafts in this state (repeatable)."))
    ] = None,
    benchmark: Annotated[str | None, typer.Option("--benchmark", help="Only drafts for this benchmark.")] = None,
    limit: Limit = DEFAULT_LIMIT,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """List drafts, newest first."""
    with Api(server) as api:
        rows = api.items("/drafts", limit, state=[member.value for member in state or ()] or None, benchmark=benchmark)
        print_rows(rows, output, DRAFTS, empty="No drafts. Create one with `deskarena task new FILE`.")


@app.command()
def show(
    draft: DraftId,
    content: Annotated[
        bool, typer.Option("--content", help=("Print only the content as JSON, for `task edit`."))
    ] = False,
    version: Annotated[
        int | None, typer.Option("--version", min=1, help=("Print the content of this version."))
    ] = None,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Show a draft, or its content as a file to edit."""
    with Api(server) as api:
        if content or version is not None:
            path = f"/drafts/{draft}" if version is None else f"/drafts/{draft}/versions/{version}"
            print(json.dumps(api.get(path)["content"], indent=2, ensure_ascii=False))
        else:
            print_object(api.get(f"/drafts/{draft}"), output, show_draft)


@app.command("try")
def try_draft(  # noqa: PLR0913, PLR0917  a command has as many options as it has
    draft: DraftId,
    provider: Annotated[str, typer.Option("--provider", help="Provider of the desktops.")] = "local",
    wait: Wait = True,
    timeout: Timeout = None,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Run oracle, noop and always_fail on a draft. Exits with 1 if the draft is unsound."""
    with Api(server) as api:
        row = api.post(f"/drafts/{draft}/trials", {"provider": provider})
        row = _wait(api, row, timeout) if wait else row
    print_object(row["trial"], output, lambda row: print(tried_words(row)))
    if wait and not row["trial"]["sound"]:
        unknown = bool(row["trial"]["unknown"])
        raise typer.Exit(ExitCode.INFRASTRUCTURE if unknown else ExitCode.THRESHOLD_MISSED)


@app.command()
def submit(
    draft: DraftId,
    noop_justification: Annotated[
        str, typer.Option("--noop-justification", help="Why doing nothing scores more than 0, if it does.")
    ] = "",
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Submit a draft for review. Its current version must have been tried."""
    with Api(server) as api:
        print_object(
            api.post(f"/drafts/{draft}/submit", {"noop_justification": noop_justification}), output, show_draft
        )


@app.command()
def review(
    draft: Annotated[
        str | None, typer.Argument(metavar="[DRAFT]", help=("Draft to review (default: list drafts in review)."))
    ] = None,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Show what a reviewer checks, or list the drafts in review."""
    with Api(server) as api:
        if draft is None:
            print_rows(api.items("/drafts", None, state="in_review"), output, DRAFTS, empty=("No drafts in review."))
        else:
            print_object(api.get(f"/drafts/{draft}"), output, show_review)


@app.command()
def approve(  # noqa: PLR0913, PLR0917  a command has as many options as it has
    draft: DraftId,
    by: By = "",
    version: Version = None,
    comment: Comment = "",
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Approve a draft. It needs two people who did not write it."""
    with Api(server) as api:
        body = {"version": version or api.get(f"/drafts/{draft}")["version"], "by": by, "comment": comment}
        print_object(api.post(f"/drafts/{draft}/approve", body), output, show_draft)


@app.command()
def reject(  # noqa: PLR0913, PLR0917  a command has as many options as it has
    draft: DraftId,
    reason: Annotated[RejectionOption, typer.Option("--reason", help="Reason for the rejection.")],
    by: By = "",
    version: Version = None,
    comment: Comment = "",
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Reject a draft with a reason. Its author may change it and submit it again."""
    with Api(server) as api:
        number = version or api.get(f"/drafts/{draft}")["version"]
        body = {"version": number, "by": by, "comment": comment, "reason": reason.value}
        print_object(api.post(f"/drafts/{draft}/reject", body), output, show_draft)


@app.command()
def publish(
    drafts: Annotated[
        list[str] | None, typer.Argument(metavar="[DRAFT]...", help=("Drafts to publish (default: all approved ones)."))
    ] = None,
    benchmark: Benchmark = "own",
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Publish approved drafts as the benchmark's next version. Earlier versions stay available."""
    with Api(server) as api:
        reply = api.post("/drafts/publish", {"benchmark": benchmark, "drafts": drafts or []})
    message = f"{reply['benchmark']}: version {reply['version']}, {reply['tasks']} tasks, {len(reply['drafts'])} new"
    print_object(reply, output, lambda _: print(message))


@app.command()
def attach(
    draft: DraftId,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="File to attach.")],
    name: Annotated[str | None, typer.Option("--name", help="Name in `asset:NAME` (default: the file's name).")] = None,
    by: By = "",
    server: Server = None,
) -> None:
    """Attach a file to a draft. Steps and getters refer to it as asset:NAME."""
    if not path.is_file():
        raise UsageError(f"{path} is not a file.", code="path_not_found")
    with Api(server) as api:
        api.upload(f"/drafts/{draft}/files", {"name": name or path.name, "by": by}, path.name, path)
    print(f"asset:{name or path.name}")


@app.command()
def record(
    draft: DraftId,
    kind: Annotated[
        RecordingOption, typer.Option("--kind", help=("Part of the draft that the recording becomes."))
    ] = RecordingOption.ORACLE,
    by: By = "",
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Start a desktop on which you perform the set-up or the solution; prints the page to act on."""
    with Api(server) as api:
        recording = api.post(f"/drafts/{draft}/recordings", {"kind": kind.value, "by": by})["recordings"][0]
        print_object(recording, output, lambda row: print(f"{api.server}/episodes/{row['episode']}"))


@app.command("apply-recording")
def apply_recording(
    draft: DraftId,
    recording: Annotated[
        str | None, typer.Argument(metavar="[RECORDING]", help="Recording to apply (default: the newest).")
    ] = None,
    by: By = "",
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Use a recording as the draft's solution, or append it to its set-up."""
    with Api(server) as api:
        recordings = [row["id"] for row in api.get(f"/drafts/{draft}")["recordings"]]
        if recording is None and not recordings:
            raise UsageError(
                "The draft has no recording. Start one with `deskarena task record`.", code="draft_not_recorded"
            )
        recording_id = recording or recordings[0]
        print_object(api.post(f"/drafts/{draft}/recordings/{recording_id}/apply", {"by": by}), output, show_draft)


@app.command()
def generate(  # noqa: PLR0913, PLR0917  a command has as many options as it has
    persona: Annotated[str, typer.Argument(metavar="PERSONA", help="User for whom the tasks are, in one sentence.")],
    endpoint: Annotated[str, typer.Option("--endpoint", help="Model endpoint (docs/models.md).")],
    model: Annotated[str, typer.Option("--model", help="Model name at the endpoint.")],
    count: Annotated[int, typer.Option("--count", min=1, max=20, help="Maximum number of drafts.")] = 3,
    benchmark: Benchmark = "own",
    by: By = "",
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Have a model write drafts, which people must approve. `task requests` shows the progress."""
    body = {"persona": persona, "count": count, "endpoint": endpoint, "model": model, "benchmark": benchmark, "by": by}
    with Api(server) as api:
        print_object(api.post("/draft-requests", body), output, lambda row: print(row["id"]))


@app.command("requests")
def list_requests(output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """List requests for generated drafts, newest first."""
    with Api(server) as api:
        rows = api.get("/draft-requests")["items"]
    print_rows(rows, output, REQUESTS, empty="No requests. `deskarena task generate` creates one.")


def read(path: Path) -> Any:
    """Reads JSON from a file or stdin."""
    try:
        return json.loads(sys.stdin.read() if str(path) == "-" else path.read_text())
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", code="file_not_readable") from None
    except ValueError as error:
        raise UsageError(f"{path} is not valid JSON: {error}.", code="file_not_json") from None


def _wait(api: Api, row: Any, timeout: float | None) -> Any:
    """Polls a trial until its three runs have ended."""
    deadline = None if timeout is None else time.monotonic() + timeout
    api.patience = PATIENCE_SECONDS
    with resumable(f"The trial continues. Check it with `deskarena task show {row['id']}`."):
        while not row["trial"]["complete"]:
            if deadline is not None and time.monotonic() > deadline:
                raise CliError(f"Not finished after {timeout:g} s.", ExitCode.WAIT_TIMED_OUT, code="wait_timeout")
            time.sleep(LOOK_AGAIN_SECONDS)
            row = api.get(f"/drafts/{row['id']}")
    progress("All three runs have ended")
    return row
