"""Instructions for a graph by templates: high and low level, in several orders.

The template numbers each subtask and names its predecessors:

    There are 3 things to do. (1) Write 'milk' into list.txt. (2) After (1): Pack list.txt. (3) Draw a plan.

So the text contains the whole graph, and `consistency.py` can extract it. A model may paraphrase the text; the
validator then decides whether it still matches.
"""

import random
from collections.abc import Mapping, Sequence

from backend.domain.omnibench.compose import GraphComposition
from backend.domain.omnibench.graph import TaskGraph
from backend.domain.omnibench.subtask import fill_values
from backend.domain.omnibench.task_file import GraphTask, Pool
from backend.domain.statistics.coherence import best_order

ORDERS = 3
"""Expression orders of one instruction; OmniBench takes the deviation over three."""


def high_level(graph: TaskGraph, pool: Pool, order: Sequence[str] | None = None) -> str:
    """An instruction that names the goal of every node.

    Args:
        graph: the task.
        pool: its subtasks.
        order: of telling, any order of the nodes; None = that of the graph.
    """
    sentences = {node.name: pool[node.subtask].instruction(node.values) for node in graph.nodes}
    return _text(graph, sentences, order or graph.order())


def low_level(graph: TaskGraph, pool: Pool) -> str:
    """The instruction action by action; the high-level one for a subtask without actions."""
    sentences = {}
    for node in graph.nodes:
        subtask = pool[node.subtask]
        steps = [str(fill_values(step, node.values)) for step in subtask.steps]
        sentences[node.name] = " ".join(steps) or subtask.instruction(node.values)
    return _text(graph, sentences, graph.order())


def task_of(composed: GraphComposition, name: str, pool: Pool, *, orders: int = ORDERS) -> GraphTask:
    """A composed graph as a task with all its texts. The same name gives the same orders."""
    graph = composed.graph
    best = best_order(graph.after, {node.name: pool[node.subtask].application for node in graph.nodes})
    order = best or graph.order()
    return GraphTask(
        name=name,
        instruction=high_level(graph, pool, order),
        low=low_level(graph, pool),
        orders=tuple(high_level(graph, pool, other) for other in _other_orders(order, name, orders - 1)),
        intent=composed.intent,
        capability=composed.request.capability,
        graph=graph,
    )


def _other_orders(order: Sequence[str], name: str, most: int) -> list[tuple[str, ...]]:
    rng = random.Random(name)  # noqa: S311 - the orders must come again.
    orders: dict[tuple[str, ...], None] = {tuple(order): None}
    for _ in range(20 * most):
        if len(orders) <= most:
            orders[tuple(rng.sample(order, len(order)))] = None
    return list(orders)[1:]


def _text(graph: TaskGraph, sentences: Mapping[str, str], order: Sequence[str]) -> str:
    if len(order) == 1:
        return _sentence(sentences[order[0]])
    numbers = {name: number for number, name in enumerate(order, start=1)}
    clauses = []
    for name, number in numbers.items():
        before = sorted(numbers[predecessor] for predecessor in graph.after[name])
        after = f"After {_enumeration(before)}: " if before else ""
        clauses.append(f"({number}) {after}{_sentence(sentences[name])}")
    return f"There are {len(order)} things to do. {' '.join(clauses)}"


def _enumeration(numbers: Sequence[int]) -> str:
    words = [f"({number})" for number in numbers]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."
