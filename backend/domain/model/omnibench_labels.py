"""OmniBench's capabilities and complexities as labels of tasks. Source: protocols reference, section 6."""

from collections.abc import Mapping
from typing import Any

from backend.domain.model.task import Difficulty

CAPABILITIES: Mapping[str, str] = {
    "PP": "Parallel Planning",
    "LRP": "Long-Range Planning",
    "LSR": "Long-Sequence Reasoning",
    "LIF": "Long Instruction Following",
    "SDK": "Sequential Decision-Making",
    "CDDK": "Cross-Domain Decision-Making",
    "SI": "Subtask Identification",
    "DI": "Dependency Identification",
    "CDK": "Cross-Domain Knowledge",
    "DSK": "Domain-Specific Knowledge",
}
"""Capabilities by the paper's letters, in the order of its Table 4."""
COMPLEXITIES: Mapping[str, str] = {
    "dependency": "edges: up to 1, 2 or 3, 4 or more",
    "instruction": "nodes: up to 2, 3 or 4, 5 or more",
    "knowledge": "categories of applications: 1, 2 or 3, 4 or more",
    "hierarchy": "depth: up to 2, 3 or 4, 5 or more",
    "branch": "width: up to 2, 3 or 4, 5 or more",
}
"""The quantity of each dimension, with the bounds of easy, medium and hard, as in its Table 5."""
_LEVELS = frozenset(level.value for level in Difficulty)


def composed_for(extra: Mapping[str, Any]) -> str | None:
    """Letters of the one capability that a task was composed to test (label `capability`); None = not known."""
    letters = extra.get("capability")
    return letters if isinstance(letters, str) and letters in CAPABILITIES else None


def tested_capabilities(extra: Mapping[str, Any]) -> tuple[str, ...]:
    """Letters of the capabilities whose sets a task is in.

    Its set is that of the capability that it was composed for; what else it qualifies for is only a label. A task of
    which that is not known is in every set that it qualifies for.
    """
    letters = composed_for(extra)
    return capabilities(extra) if letters is None else (letters,)


def capabilities(extra: Mapping[str, Any]) -> tuple[str, ...]:
    """Letters of all capabilities that a task qualifies for (label `capabilities`), in the paper's order."""
    labels = extra.get("capabilities")
    return tuple(letters for letters in CAPABILITIES if letters in labels) if isinstance(labels, list) else ()


def complexity(extra: Mapping[str, Any]) -> dict[str, str]:
    """Level by dimension from a task's label `complexity`; unknown entries are left out."""
    labels = extra.get("complexity")
    levels = labels if isinstance(labels, dict) else {}
    return {name: level for name in COMPLEXITIES if isinstance(level := levels.get(name), str) and level in _LEVELS}
