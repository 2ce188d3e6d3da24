"""A task as OmniBench's files write it: instruction, intent and graph. Source: OmniBench, appendix C.4.

Keys beyond the published ones, all optional: `task_instruction_low` (the low-level text), `task_instruction_orders`
(the same instruction in other orders), `capability`, `scenario`, `trial`, and in `dag` `subtasks` and `parameters`: for
each node, the subtask that it is (else its name) and the parameters that it is done with (else the first set of the
pool).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from backend.domain.errors import Invalid
from backend.domain.model.task import JSON, MAX_PARTS, Frozen
from backend.domain.model.validation_words import problem_words
from backend.domain.omnibench.complexity import CAPABILITIES
from backend.domain.omnibench.graph import GraphNode, TaskGraph
from backend.domain.omnibench.subtask import Subtask, Values

Pool = Mapping[str, Subtask]
"""Subtasks by their id."""


class SolutionTrial(Frozen):
    """The subtask whose solution is played in place of the task's own; see `crosscheck.py`."""

    subtask: str
    values: Values = Field(default_factory=dict)


class GraphTask(Frozen):
    """A task over a pool.

    Attributes:
        name: file name, which identifies it.
        instruction: on a high level.
        low: low-level instruction; may be empty.
        orders: `instruction` in other orders.
        intent: the person's intent; empty = unknown.
        capability: letters of the capability that it was composed to test; empty = not known.
        scenario: empty = follows from the applications.
        trial: None = an ordinary task.
    """

    name: str
    instruction: str = Field(min_length=1)
    graph: TaskGraph
    low: str = ""
    orders: tuple[str, ...] = ()
    intent: str = ""
    capability: str = ""
    scenario: str = ""
    trial: SolutionTrial | None = None

    def as_json(self) -> dict[str, JSON]:
        """The task file; `read_task` reads it back."""
        nodes = self.graph.nodes
        dag: dict[str, JSON] = {
            "nodes": [node.name for node in nodes],
            "edges": self.graph.edges(),
            "parameters": {node.name: dict(node.values) for node in nodes},
        }
        renamed = {node.name: node.subtask for node in nodes if node.name != node.subtask}
        more = {
            "task_instruction_low": self.low,
            "task_instruction_orders": list(self.orders),
            "capability": self.capability,
            "scenario": self.scenario,
            "trial": self.trial.model_dump() if self.trial is not None else None,
        }
        return {
            "task_id": self.name,
            "task_instruction": self.instruction,
            "task_intent": self.intent,
            **{key: value for key, value in more.items() if value},
            "dag": {**dag, "subtasks": renamed} if renamed else dag,
        }


class _Dag(BaseModel):
    model_config = ConfigDict(extra="ignore")

    nodes: list[str] = Field(min_length=1, max_length=MAX_PARTS)
    edges: dict[str, list[str]] = Field(default_factory=dict)
    subtasks: dict[str, str] = Field(default_factory=dict)
    parameters: dict[str, dict[str, Any]] = Field(default_factory=dict)

    @field_validator("edges", mode="before")
    @classmethod
    def _no_successor(cls, value: Any) -> Any:
        """The paper writes `[[]]` for a node without successor, as well as `[]`."""
        if not isinstance(value, dict):
            return value
        return {node: [] if successors in ([[]], None) else successors for node, successors in value.items()}

    @model_validator(mode="after")
    def _known_names(self) -> Self:
        named = [
            *self.edges,
            *(successor for successors in self.edges.values() for successor in successors),
            *self.subtasks,
            *self.parameters,
        ]
        unknown = [name for name in named if name not in set(self.nodes)]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is not one of the nodes")
        return self


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore")

    @field_validator("capability")
    @classmethod
    def _known_capability(cls, value: str) -> str:
        if value and value not in CAPABILITIES:
            raise ValueError(f"expected one of {', '.join(CAPABILITIES)}")
        return value

    task_instruction: str = Field(min_length=1, max_length=50_000)
    task_intent: str = Field(default="", max_length=2000)
    task_instruction_low: str = Field(default="", max_length=50_000)
    task_instruction_orders: tuple[str, ...] = Field(default=(), max_length=20)
    capability: str = ""
    scenario: str = Field(default="", max_length=100)
    trial: SolutionTrial | None = None
    dag: _Dag


def read_task(raw: Mapping[str, Any], name: str, pool: Pool) -> GraphTask:
    """Reads a task file.

    Raises:
        Invalid: names the key that is wrong; a subtask is not in the pool, or the graph has a circle.
    """
    try:
        file = _File.model_validate(raw)
        if file.trial is not None and file.trial.subtask not in pool:
            raise Invalid(f"there is no subtask {file.trial.subtask!r}", code="unknown_subtask", path="trial.subtask")
        if file.trial is not None:
            _complete(pool[file.trial.subtask], file.trial.values, "trial.values")
        return GraphTask(
            name=name,
            instruction=file.task_instruction,
            low=file.task_instruction_low,
            orders=file.task_instruction_orders,
            intent=file.task_intent,
            capability=file.capability,
            scenario=file.scenario,
            trial=file.trial,
            graph=_graph(file.dag, pool),
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise Invalid(
            problem_words(first), code="invalid_subtask", path=".".join(map(str, first["loc"]))[:300] or "dag"
        ) from error


def _graph(dag: _Dag, pool: Pool) -> TaskGraph:
    nodes = tuple(_node(name, dag, pool) for name in dag.nodes)
    before: dict[str, list[str]] = {name: [] for name in dag.nodes}
    for node, successors in dag.edges.items():
        for successor in dict.fromkeys(successors):
            before[successor].append(node)
    return TaskGraph(nodes=nodes, after={name: tuple(earlier) for name, earlier in before.items()})


def _node(name: str, dag: _Dag, pool: Pool) -> GraphNode:
    subtask = dag.subtasks.get(name, name)
    if subtask not in pool:
        raise Invalid(f"there is no subtask {subtask!r}", code="unknown_subtask", path="dag.nodes")
    first: Sequence[Mapping[str, JSON]] = pool[subtask].available_parameters
    values = dag.parameters.get(name, first[0])
    _complete(pool[subtask], values, f"dag.parameters.{name}")
    return GraphNode(name=name, subtask=subtask, values=values)


def _complete(subtask: Subtask, values: Mapping[str, JSON], path: str) -> None:
    """Raises Invalid where a parameter is lacking that every set of the pool has."""
    sets: Sequence[Mapping[str, JSON]] = subtask.available_parameters
    lacking = sorted(set(sets[0]).intersection(*sets) - set(values))
    if lacking:
        raise Invalid(f"it lacks {lacking[0]!r}, which every other set has", code="invalid_subtask", path=path)
