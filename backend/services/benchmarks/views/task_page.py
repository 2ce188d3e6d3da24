"""Page of a task: health and known facts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.domain.benchmarks import TaskChange, TaskLintFinding, differences, findings
from backend.domain.model.reason import Reason
from backend.domain.model.task import Task
from backend.domain.registry import load as load_plugins
from backend.services.benchmarks.views.benchmark_page import WhyNot
from backend.services.benchmarks.views.task import TaskDetail, task_detail, task_row
from backend.services.benchmarks.views.task_description import parameter_text

_WORDS = {
    "id": "Id in the file",
    "group": "Group in the paper",
    "rating": "Rated by people, 1 to 3",
    "twin": "Same task elsewhere",
    "network": "Needs of the network",
    "proxy": "Proxy",
    "fixed_ip": "Fixed address",
    "drift": "May the world change",
    "context": "Context",
    "snapshot": "Snapshot",
    "source": "Source",
}


@dataclass(frozen=True)
class TaskPage:
    """A task with everything else on its page.

    Attributes:
        facts: labels as text.
        variants: changes of each variant; None without changes.
        findings: its problems.
    """

    task: TaskDetail
    why_not: Reason | None
    facts: list[tuple[str, str]]
    variants: Mapping[str, TaskChange | None]
    findings: list[TaskLintFinding]
    strict_upstream: bool


def task_page(session: Session, task_id: UUID, *, why_not: WhyNot) -> TaskPage:
    """One task; `why_not` says why it cannot run here. Raises NotFound."""
    row = task_row(session, task_id)
    detail = task_detail(session, row)
    load_plugins()
    task = Task.model_validate(detail.spec)
    return TaskPage(
        task=detail,
        why_not=why_not(row.Task),
        facts=_facts(detail, task.labels.extra),
        variants={
            name: next(iter(differences({"": task}, {"": Task.model_validate(spec)})), None)
            for name, spec in detail.variants.items()
        },
        findings=findings(task),
        strict_upstream=task.evaluator.strict_upstream,
    )


def _facts(task: TaskDetail, extra: Mapping[str, Any]) -> list[tuple[str, str]]:
    facts = [(words, _to_text(extra[name])) for name, words in _WORDS.items() if name in extra]
    times = (("A person's time", task.human_seconds, " s"), ("A person's steps", task.human_steps, ""))
    return facts + [(words, f"{value:g}{unit}") for words, value, unit in times if value is not None]


def _to_text(value: Any) -> str:
    if isinstance(value, bool):
        return "needed" if value else "no"
    return ", ".join(map(parameter_text, value)) if isinstance(value, list | tuple) else parameter_text(value)
