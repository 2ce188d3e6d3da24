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
"""Capabilities by the paper's letters, in the order of its Table 4. A task may serve several."""
COMPLEXITIES: Mapping[str, str] = {
    "dependency": "edges: up to 1, 2 or 3, 4 or more",
    "instruction": "nodes: up to 2, 3 or 4, 5 or more",
    "knowledge": "categories of applications: 1, 2 or 3, 4 or more",
    "hierarchy": "depth: up to 2, 3 or 4, 5 or more",
    "branch": "width: up to 2, 3 or 4, 5 or more",
}
"""What each dimension counts, with the bounds of easy, medium and hard, as in its Table 5."""


def capabilities(extra: Mapping[str, Any]) -> tuple[str, ...]:
    """Letters of a task's capabilities (label `capabilities`), in the paper's order."""
    labels = extra.get("capabilities")
    return tuple(letters for letters in CAPABILITIES if letters in labels) if isinstance(labels, list) else ()


def complexity(extra: Mapping[str, Any]) -> dict[str, str]:
    """Level by dimension from a task's label `complexity`; unknown entries are left out."""
    labels = extra.get("complexity")
    levels = labels if isinstance(labels, dict) else {}
    return {name: levels[name] for name in COMPLEXITIES if levels.get(name) in list(Difficulty)}
