"""Shared parts of training forms: columns that identify a row's trajectory, and its pictures."""

from collections.abc import Iterator, Mapping
from typing import Any

from backend.domain.model.trajectory_export import ExportedAttempt, PictureRef
from backend.domain.ports.training import Column

HEAD: Mapping[str, Column] = {
    "trajectory_id": "text",
    "benchmark": "text",
    "benchmark_version": "integer",
    "task": "text",
    "instruction": "text",
    "domain": "text",
    "level": "text",
    "agent": "text",
    "agent_kind": "text",
    "result": "text",
    "score": "number",
}


def head(recorded: ExportedAttempt) -> dict[str, Any]:
    """The values of HEAD."""
    return {
        "trajectory_id": recorded.id,
        "benchmark": recorded.benchmark["name"],
        "benchmark_version": recorded.benchmark["version"],
        "task": str(recorded.task.key),
        "instruction": recorded.task.instruction,
        "domain": recorded.task.key.domain,
        "level": recorded.task.labels.level,
        "agent": recorded.agent,
        "agent_kind": recorded.kind.value,
        "result": recorded.result.value,
        "score": recorded.score,
    }


def path(picture: PictureRef | None) -> str | None:
    """Path of a picture; None for None."""
    return picture.path if picture else None


def all_pictures(recorded: ExportedAttempt) -> Iterator[PictureRef]:
    """The screenshots, and the pictures shown to the agent instead."""
    for step in recorded.steps:
        yield from (picture for picture in (step.frame, step.agent_view) if picture)
