"""All labels of a task, flat: names with texts, by which results are cut and tasks are selected.

Whatever else an importer writes to `Labels.extra` is a label too, unless it is about one task only (`PRIVATE`) or a
long text.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from backend.domain.benchmarks._labels import network_of
from backend.domain.model.omnibench_labels import tested_capabilities
from backend.domain.model.task import JSON, UNLABELLED, Task

PRIVATE = frozenset(
    {
        "apps_raw",
        "context_resources",
        "core_operations",
        "demonstration",
        "expected_final_state",
        "expected_output",
        "expert_work",
        "id",
        "intent",
        "mocks",
        "operations",
        "persona_raw",
        "pre_conditions",
        "published_criteria",
        "source",
        "success_criterion",
        "unreviewed_criteria",
        "validity_note",
    }
)
"""Entries of `Labels.extra` that describe one task; `operations` becomes `operation`."""
LONGEST = 60
_WORKFLOWS = frozenset({"multi_apps", "multi_app"})
"""OSWorld's domains of tasks over several applications; all other tasks of its are of a single one (its table 6)."""


def labels_of(task: Task) -> dict[str, list[str]]:
    """Labels by name, each with one value or several; without those that the task does not have.

    `apps_count` is `single` or `multi`, `apps_number` the number itself, `network` what the task needs of the network,
    or `none`, `structure` whether a graph of subtasks is a `chain`, `capability` OmniBench's sets that a task is in.
    """
    labels, extra = task.labels, task.labels.extra
    apps = list(dict.fromkeys(labels.apps))
    values: dict[str, JSON] = {
        **_flat({name: value for name, value in extra.items() if name not in PRIVATE}),
        "domain": task.key.domain,
        "difficulty": labels.difficulty or UNLABELLED,
        "level": labels.level,
        "os": labels.os,
        "feasible": labels.feasible and not task.evaluator.infeasible,
        "app": apps,
        "apps_count": _apps_count(task, len(apps)),
        "apps_number": len(apps) or None,
        "network": network_of(task) or "none",
        "capability": list(tested_capabilities(extra)),
        "operation": extra.get("operations") or extra.get("operation"),
        "software": [program.get("name") for program in extra.get("software", ()) if isinstance(program, Mapping)],
        "structure": _structure(extra),
    }
    return {name: texts for name, value in values.items() if (texts := list(dict.fromkeys(_texts(value))))}


def _apps_count(task: Task, number: int) -> str | None:
    if task.dialect == "osworld":
        return "multi" if task.key.domain in _WORKFLOWS else "single"
    return None if number == 0 else "single" if number == 1 else "multi"


def _structure(extra: Mapping[str, JSON]) -> str | None:
    """`chain` if no two subtasks could be done in either order, else `graph`; None without a graph."""
    graph = extra.get("graph")
    width = graph.get("branch") if isinstance(graph, Mapping) else None
    return None if width is None else "chain" if width == 1 else "graph"


def _flat(values: Mapping[str, JSON], path: str = "") -> dict[str, JSON]:
    """Nested objects by dotted path: `complexity.branch`."""
    flat: dict[str, JSON] = {}
    for name, value in values.items():
        flat |= _flat(value, f"{path}{name}.") if isinstance(value, Mapping) else {f"{path}{name}": value}
    return flat


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, bool):
        yield "yes" if value else "no"
    elif isinstance(value, str | int | float):
        text = " ".join(str(value).split())
        if 0 < len(text) <= LONGEST:
            yield text
    elif isinstance(value, Sequence):
        for item in value:
            yield from _texts(item)
