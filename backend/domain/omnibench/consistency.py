"""Checks an instruction against its graph: extracts dependencies from the text and compares them.

Source: OmniBench's consistency validator; protocols reference, section 6. The rules here read the texts that
`instructions.py` writes; freer ones are read by a model (`Reader`).
"""

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from backend.domain.omnibench.graph import TaskGraph
from backend.domain.omnibench.subtask import fill_values
from backend.domain.omnibench.task_file import GraphTask, Pool

Edges = frozenset[tuple[str, str]]
_CLAUSE = re.compile(r"(?:^|\s)\((\d{1,3})\) (?:After ((?:\(\d{1,3}\)(?:, | and )?)+): )?")
_NUMBER = re.compile(r"\((\d{1,3})\)")


class Reader(Protocol):
    """Extracts dependencies from a text without knowing the graph."""

    def __call__(self, text: str, subtasks: Mapping[str, str]) -> Edges | None:
        """Which of the subtasks must be done before which.

        Args:
            text: an instruction.
            subtasks: text of each node, by its name, in any order.

        Returns:
            Pairs (before, after); None if the text does not ask for exactly these subtasks, each once.
        """
        ...


def by_rules(text: str, subtasks: Mapping[str, str]) -> Edges | None:
    """Implements `Reader` for the texts of our templates."""
    if len(subtasks) == 1:
        return frozenset() if _plain(text) == _plain(next(iter(subtasks.values()))) else None
    clauses = _clauses(text)
    names: dict[str, str] = {}
    unmatched: dict[str, list[str]] = {}
    for name, words in subtasks.items():
        unmatched.setdefault(_plain(words), []).append(name)
    for number, (_, clause) in clauses.items():
        fitting = unmatched.get(_plain(clause), [])
        if not fitting:
            return None
        names[number] = fitting.pop(0)
    if len(names) != len(subtasks) or any(step not in names for before, _ in clauses.values() for step in before):
        return None
    return frozenset((names[step], names[number]) for number, (before, _) in clauses.items() for step in before)


def problems(task: GraphTask, pool: Pool, read: Reader = by_rules) -> list[str]:
    """Differences between a task's texts and its graph; empty if they agree."""
    high = {node.name: pool[node.subtask].instruction(node.values) for node in task.graph.nodes}
    low = {
        node.name: " ".join(str(fill_values(step, node.values)) for step in pool[node.subtask].steps) or high[node.name]
        for node in task.graph.nodes
    }
    texts = [("instruction", task.instruction, high)]
    texts += [(f"order {number}", text, high) for number, text in enumerate(task.orders, start=2)]
    texts += [("low level", task.low, low)] if task.low else []
    return [f"{name}: {wrong}" for name, text, words in texts if (wrong := _wrong(task.graph, read(text, words)))]


def edges_of(graph: TaskGraph) -> Edges:
    """The dependencies of a graph as pairs (before, after)."""
    return frozenset((predecessor, name) for name, before in graph.after.items() for predecessor in before)


def _wrong(graph: TaskGraph, edges: Edges | None) -> str:
    if edges is None:
        return "it does not ask for exactly the subtasks of the graph"
    expected = edges_of(graph)
    lacking, added = sorted(expected - edges), sorted(edges - expected)
    words = [f"it does not say that {after} comes after {before}" for before, after in lacking]
    return "; ".join([*words, *(f"it says that {after} comes after {before}" for before, after in added)])


def _clauses(text: str) -> dict[str, tuple[Sequence[str], str]]:
    """By number, its predecessors and its text. Only consecutive numbers from 1 count."""
    marks: list[re.Match[str]] = []
    for mark in _CLAUSE.finditer(text):
        if mark[1] == str(len(marks) + 1):
            marks.append(mark)
    ends = [*(mark.start() for mark in marks), len(text)][1:]
    return {
        mark[1]: (_NUMBER.findall(mark[2] or ""), text[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)
    }


def _plain(text: str) -> str:
    return text.strip().rstrip(".!?")
