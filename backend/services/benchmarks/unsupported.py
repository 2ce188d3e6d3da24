"""Unsupported parts of tasks: computed at import, and again by a release whose checks differ."""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from backend import domain
from backend.db.models import TaskSet
from backend.domain import registry
from backend.domain.benchmarks import TaskLintFinding, findings
from backend.domain.model.task import LoadedBenchmark, Task

COUNTS = "unsupported"
"""Key of a task set's `counts` with the lines, and the code that found them."""


@dataclass(frozen=True)
class TaskFinding:
    """A finding and its task; `task` is empty for the whole task set."""

    task: str
    finding: TaskLintFinding


def task_findings(rows: Iterable[tuple[str, Task]], assets: Collection[str]) -> list[TaskFinding]:
    """All findings of tasks, each with its name; `assets`: names of their task set's assets."""
    registry.load()
    return [TaskFinding(name, finding) for name, task in rows for finding in findings(task, assets)]


def lines(rows: Sequence[TaskFinding]) -> tuple[str, ...]:
    """Unsupported parts among findings, one line each: `task: place: what`."""
    return tuple(f"{row.task}: {row.finding.path}: {row.finding.unknown}" for row in rows if row.finding.unknown)


def counts_of(loaded: LoadedBenchmark) -> dict[str, Any]:
    """Value of a task set's column `counts` for these lines."""
    rows = [(str(task.key), task) for task in loaded.tasks]
    rows += [
        (variant_name(str(variant.task.key), variant.axis, variant.value), variant.task) for variant in loaded.variants
    ]
    return {COUNTS: {"code": code_of_checks(), "lines": lines(task_findings(rows, loaded.assets))}}


def stored_lines(task_set: TaskSet) -> tuple[str, ...] | None:
    """The lines as stored; None if other code than this process's found them."""
    stored = task_set.counts.get(COUNTS, {})
    return tuple(stored["lines"]) if stored.get("code") == code_of_checks() else None


def variant_name(task: str, axis: str, value: str) -> str:
    """How findings name a variant of a task."""
    return f"{task} ({axis}={value})"


@cache
def code_of_checks() -> str:
    """Hash of all code that decides what is supported: the domain's, with its plug-ins."""
    root = Path(domain.__path__[0])
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root)}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
