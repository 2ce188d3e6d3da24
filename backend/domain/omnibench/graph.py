"""A task of OmniBench: subtasks with their parameters, and which comes before which."""

from collections.abc import Mapping
from typing import Self

from pydantic import Field, model_validator

from backend.domain.model.task import JSON, MAX_PARTS, Frozen, check_order, digest
from backend.domain.omnibench.subtask import Values


class GraphNode(Frozen):
    """A subtask's place in a graph.

    Attributes:
        name: unique in the graph; the subtask's id, where it is there once.
        subtask: id in the pool.
        values: the parameters that it is done with.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9_.-]{1,100}$")
    subtask: str
    values: Values = Field(default_factory=dict)

    @property
    def label(self) -> str:
        """The node's instruction. Unique within a graph."""
        return digest([self.subtask, dict(self.values)])


class TaskGraph(Frozen):
    """Nodes and the dependencies between them, without a circle.

    Attributes:
        nodes: in the order of the file.
        after: for each node, those that come directly before it.
    """

    nodes: tuple[GraphNode, ...] = Field(min_length=1, max_length=MAX_PARTS)
    after: Mapping[str, tuple[str, ...]]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        names = [node.name for node in self.nodes]
        if len(set(names)) != len(names):
            raise ValueError("two nodes have the same name")
        if set(self.after) != set(names):
            raise ValueError("the dependencies are not those of the nodes")
        if len({node.label for node in self.nodes}) != len(names):
            raise ValueError("two nodes are the same subtask with the same parameters")
        check_order(self.after)
        return self

    def node(self, name: str) -> GraphNode:
        """The node of that name. Raises KeyError."""
        return {node.name: node for node in self.nodes}[name]

    def order(self) -> tuple[str, ...]:
        """One order of the whole graph."""
        return check_order(self.after)

    def edges(self) -> dict[str, list[str]]:
        """For each node, those that come directly after it: the form of task files."""
        return {
            node.name: [later.name for later in self.nodes if node.name in self.after[later.name]]
            for node in self.nodes
        }

    def canonical(self) -> str:
        """Sha256 (hex) that two graphs share exactly if they are the same up to the names of their nodes.

        Labels are unique within a graph, so there is but one way in which two graphs can be laid upon each other.
        """
        labels = {node.name: node.label for node in self.nodes}
        pairs: list[JSON] = sorted(
            [labels[predecessor], labels[name]] for name, before in self.after.items() for predecessor in set(before)
        )
        return digest([sorted(labels.values()), pairs])
