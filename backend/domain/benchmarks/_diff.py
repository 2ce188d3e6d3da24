"""Differences between two versions of a benchmark's tasks."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from backend.domain.benchmarks._files import short
from backend.domain.model.task import Frozen, Task

MOST = 50  # changes reported per task


class FieldChange(Frozen):
    """One field of a task that differs; `old` and `new` are short JSON texts, None where the field is missing."""

    path: str
    old: str | None
    new: str | None


class TaskChange(Frozen):
    """A task that differs between two task sets.

    Attributes:
        task: its key.
        kind: `added`, `removed` or `changed`.
        changes: the changed fields of a changed task; at most MOST.
        scores: whether scores of the old version may no longer hold: the evaluator, the set-up, the instruction or the
            budget differ, not only labels.
    """

    task: str
    kind: Literal["added", "removed", "changed"]
    changes: tuple[FieldChange, ...] = ()
    scores: bool = True


def differences(old: Mapping[str, Task], new: Mapping[str, Task]) -> list[TaskChange]:
    """The changes from the old tasks (by key) to the new ones, sorted by key; equal tasks are left out."""
    task_changes = []
    for key in sorted({*old, *new}):
        if key not in new or key not in old:
            task_changes.append(TaskChange(task=key, kind="removed" if key in old else "added", scores=key in old))
        elif changes := tuple(_changes(_content(old[key]), _content(new[key]), ""))[:MOST]:
            touched = any(not change.path.startswith("labels.") for change in changes)
            task_changes.append(TaskChange(task=key, kind="changed", changes=changes, scores=touched))
    return task_changes


def _content(task: Task) -> dict[str, Any]:
    """The content of a task without the raw file, which would report every change twice."""
    return task.model_dump(mode="json", exclude={"raw", "key"})


def _changes(old: Any, new: Any, path: str) -> Iterator[FieldChange]:
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted({*old, *new}):
            yield from _changes(old.get(name), new.get(name), f"{path}.{name}".lstrip("."))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _changes(before, after, f"{path}.{number}")
    else:
        yield FieldChange(path=path, old=_shorten(old), new=_shorten(new))


def _shorten(value: Any) -> str | None:
    return None if value is None else short(value)
