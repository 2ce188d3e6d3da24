"""`deskarena episode`: show, export, rescore."""

import json
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from backend.cli.client import Api
from backend.cli.commands.run import parameters
from backend.cli.errors import UsageError
from backend.cli.options import EpisodeId, MakeCurrent, OutputForm, Rejudge, RescoreTimeout, Server, TaskSet
from backend.cli.output import Columns, Output, print_facts, print_object, print_rows, progress
from backend.cli.reevaluation import show_rescores, wait_for_rescores
from backend.cli.tables.runs import outcome, seconds

app = typer.Typer(help="Inspect and rescore episodes.", no_args_is_help=True)
ATTEMPTS: Columns = {
    "attempt": lambda attempt: attempt["number"],
    "state": lambda attempt: attempt["state"],
    "ended by": lambda attempt: attempt["ended_by"],
    "failure class": lambda attempt: attempt["failure_class"],
    "why": lambda attempt: attempt["failure_message"],
    "score": lambda attempt: next((e["score"] for e in attempt["evaluations"] if e["current"]), None),
    "seconds": lambda attempt: seconds(attempt["seconds"]),
    "worker": lambda attempt: attempt["worker"],
}


@app.command()
def show(episode: EpisodeId, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Show an episode with its attempts."""
    with Api(server) as api:
        print_object(whole_episode(api, episode), output, show_episode)


@app.command()
def export(
    episode: EpisodeId,
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="New or empty folder for the files.")],
    server: Server = None,
) -> None:
    """Write an episode to a folder: episode.json with attempts and steps, and all artifacts named by sha256."""
    if to.exists() and any(to.iterdir()):
        raise UsageError(f"--to {to} exists and is not empty. Choose another folder.", code="folder_not_empty")
    with Api(server) as api:
        record = whole_episode(api, episode)
        for attempt in record["attempts_made"]:
            attempt["steps"] = list(api.items(f"/attempts/{attempt['id']}/steps"))
        files = download_artifacts(api, record, to)
    (to / "episode.json").write_text(json.dumps(record, indent=2))
    progress(f"Wrote {to / 'episode.json'} and {files} artifacts")


@app.command()
def rescore(  # noqa: PLR0913, PLR0917  a command has as many options as it has
    episode: EpisodeId,
    task_set: TaskSet = "own",
    make_current: MakeCurrent = None,
    judge: Rejudge = None,
    timeout: RescoreTimeout = None,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Evaluate an episode's stored evidence again, without a desktop, and show the old and the new score."""
    with Api(server) as api:
        judge_parameters = parameters(judge, "--judge") if judge else None
        body = {"task_set": task_set, "make_current": make_current, "judge": judge_parameters}
        row = api.post(f"/episodes/{episode}/rescore", body)
        rows = wait_for_rescores(api, f"/episodes/{episode}/rescores", [row], timeout)
        show_rescores({"rescores": rows, "refused": []}, output)


def whole_episode(api: Api, episode: str) -> dict[str, Any]:
    """An episode with its attempts in `attempts_made` (`attempts` is their number)."""
    record: dict[str, Any] = api.get(f"/episodes/{episode}")
    return {**record, "attempts_made": list(api.items(f"/episodes/{episode}/attempts"))}


def show_episode(episode: Any) -> None:
    """Print an episode's facts and its attempts."""
    facts = {
        "episode": episode["id"],
        "run": episode["run_id"],
        "task": episode["task"],
        "outcome": outcome(episode),
        "ended by": episode["ended_by"],
        "score": episode["score"],
        "steps": episode["steps"],
        "seconds": seconds(episode["seconds"]),
    }
    if episode["failure_message"]:
        facts["failure"] = episode["failure_message"]
    print_facts(facts)
    print()
    print_rows(episode["attempts_made"], Output.TABLE, ATTEMPTS, empty="No attempts yet.")


def download_artifacts(api: Api, record: Any, to: Path) -> int:
    """Download every artifact referenced in `record` once to `to`/artifacts; returns their number."""
    folder = to / "artifacts"
    folder.mkdir(parents=True, exist_ok=True)
    mentioned = dict(artifacts(record))
    for sha256, url in mentioned.items():
        (folder / sha256).write_bytes(api.download(url))
    return len(mentioned)


def artifacts(value: Any) -> list[tuple[str, str]]:
    """All (sha256, url) pairs in a JSON value. Only valid sha256 names are returned, so none can be another path."""
    if isinstance(value, list):
        return [pair for item in value for pair in artifacts(item)]
    if not isinstance(value, dict):
        return []
    own = [(value["sha256"], value["url"])] if value.get("sha256") and value.get("url") else []
    pairs = own + [pair for item in value.values() for pair in artifacts(item)]
    return [(sha256, url) for sha256, url in pairs if re.fullmatch(r"[0-9a-f]{64}", sha256)]
