"""Tasks with parts: files that must have a content, evaluated after each step or at the end."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.model.task import EvaluatorSpec, MetricCall, Part, PartKind, Task, TaskKey


def file_says(path: str, text: str) -> MetricCall:
    """A metric call that requires a file to have this text."""
    return MetricCall(
        func="exact_match",
        result={"type": "vm_command_line", "command": ["cat", path]},
        expected={"type": "rule", "rules": {"expected": text}},
    )


def part(name: str, *after: str, each_step: bool = True, **more: Any) -> Part:
    """A node that is reached when the file of its name says `done`."""
    values: dict[str, Any] = {"kind": PartKind.NODE, "calls": (file_says(f"/{name}", "done"),)} | more
    return Part(name=name, after=after, each_step=each_step, **values)


def task_of_parts(*parts: Part, calls: Sequence[MetricCall] = (), **more: Any) -> Task:
    """A task of the starter dialect with these parts."""
    wanted: Mapping[str, Any] = {"calls": tuple(calls) or (file_says("/end", "done"),), "parts": parts} | more
    return Task(
        key=TaskKey(domain="tests", name="parts"),
        dialect="starter",
        instruction="Do all of it.",
        evaluator=EvaluatorSpec(**wanted),
    )
