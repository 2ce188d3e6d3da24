"""Tables for runs, episodes and summaries."""

from collections.abc import Mapping
from typing import Any

from backend.cli.output import Columns, Output, print_facts, print_rows, rate


def moment(text: str | None) -> str | None:
    """A time without its fraction, such as `2026-03-01 12:30:05 UTC`."""
    return f"{text[:10]} {text[11:19]} UTC" if text else None


def outcome(episode: Mapping[str, Any]) -> str:
    """The outcome as text, with the failure class of a lost episode or the reason why an episode waits."""
    if episode["outcome"] == "lost":
        return f"lost ({episode['failure_class']})"
    if episode["outcome"]:
        return str(episode["outcome"])
    state = str(episode["state"]).replace("_", " ")
    waiting = episode.get("waiting") or {}
    reason = waiting.get("reason") or episode["reason"]
    begins = f"; starts about {waiting['starts_at'][11:16]} UTC" if waiting.get("starts_at") else ""
    return f"{state}: {reason}{begins}" if reason else state


def seconds(phases: Mapping[str, float]) -> str:
    """Seconds by phase on one line."""
    return " ".join(f"{phase} {value:.1f}" for phase, value in phases.items())


RUNS: Columns = {
    "run": lambda run: run["id"],
    "status": lambda run: run["status"],
    "benchmark": lambda run: run["benchmark"],
    "configuration": lambda run: run["configuration"]["name"],
    "provider": lambda run: run["provider"],
    "scored": lambda run: f"{run['counts']['scored']}/{sum(run['counts'].values())}",
    "lost": lambda run: run["counts"]["lost"],
    "success rate": lambda run: rate(run["summary"]["success_rate"], run["summary"]["success_interval"]),
    "created": lambda run: moment(run["created_at"]),
}
EPISODES: Columns = {
    "task": lambda episode: episode["task"] + (f" #{episode['repeat']}" if episode["repeat"] > 1 else ""),
    "difficulty": lambda episode: episode["difficulty"] or "unlabelled",
    "outcome": outcome,
    "ended by": lambda episode: episode["ended_by"],
    "score": lambda episode: episode["score"],
    "steps": lambda episode: episode["steps"],
    "attempts": lambda episode: episode["attempts"],
    "seconds": lambda episode: f"{sum(episode['seconds'].values()):.1f}",
    "episode": lambda episode: episode["id"],
}


def scheduling(run: Mapping[str, Any]) -> dict[str, Any]:
    """Priority, concurrency and limits of a run that has not ended."""
    if not run.get("effective_concurrency"):
        return {}
    return {
        "priority": run["priority"],
        "concurrency": run["effective_concurrency"]["text"],
        "limit": "none" if run["concurrency"] is None else run["concurrency"],
    }


def run_facts(run: Mapping[str, Any]) -> dict[str, Any]:
    """Facts about a run."""
    summary = run["summary"]
    return {
        "run": run["id"],
        "status": run["status"],
        "benchmark": f"{run['benchmark']} version {run['task_set']['version']}",
        "agent": run["agent"],
        "configuration": run["configuration"]["name"],
        "provider": run["provider"],
        **scheduling(run),
        "success rate": rate(summary["success_rate"], summary["success_interval"]),
        "mean score": rate(summary["mean_score"], summary["mean_interval"]),
        "lower bound": f"{rate(summary['lower_bound_success'])} solved, {rate(summary['lower_bound_mean'])} mean",
        "of": summary["counts_text"],
        "interval": summary["interval"]["text"],
    }


def show_run(run: Mapping[str, Any]) -> None:
    """Prints a run's facts, and its episodes if included."""
    print_facts(run_facts(run))
    if run.get("episodes"):
        print()
        print_rows(run["episodes"], Output.TABLE, EPISODES)
