"""Builds a Task from a graph of subtasks: set-up, stepwise nodes, solution and labels."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from backend.domain.errors import Invalid
from backend.domain.model.task import JSON, EvaluatorSpec, Labels, Part, PartKind, SetupStep, Task, TaskKey, Variant
from backend.domain.model.validation_words import problem_words
from backend.domain.omnibench.categories import categories_of, scenario_of
from backend.domain.omnibench.complexity import complexity
from backend.domain.omnibench.expression import DIALECT, CompiledExpression, compile_expression, compile_function
from backend.domain.omnibench.graph import GraphNode
from backend.domain.omnibench.subtask import Subtask, Values, fill_values
from backend.domain.omnibench.task_file import GraphTask, Pool
from backend.domain.statistics.coherence import best_order

PATIENCE = 20
"""Steps without a newly reached node after which OmniBench ends a task."""
MAX_STEPS = 200


def build(task: GraphTask, pool: Pool, raw: Mapping[str, JSON]) -> Task:
    """The task that an agent gets.

    Args:
        task: instruction and graph.
        pool: where its subtasks are.
        raw: the file that it was read from.

    Raises:
        Invalid: a subtask has no evaluation, or one that cannot be read; its subtasks run on different systems.
    """
    subtasks = {node.name: pool[node.subtask] for node in task.graph.nodes}
    systems = {subtask.os for subtask in subtasks.values()}
    if len(systems) > 1:
        raise Invalid("its subtasks run on different systems", code="invalid_subtask", path="dag.nodes")
    apps = {name: _app(subtask.application) for name, subtask in subtasks.items()}
    categories = categories_of([subtask.application for subtask in subtasks.values()])
    scenario = task.scenario or scenario_of(categories)
    counted = complexity(task.graph.after, {name: subtask.application for name, subtask in subtasks.items()})
    extra = {
        "capability": task.capability,
        "capabilities": list(counted.capabilities()),
        "complexity": counted.levels(),
        "graph": counted.model_dump(),
        "categories": list(categories),
        "scenario": scenario,
        "intent": task.intent,
    }
    needs = [subtask.application_needs() for subtask in subtasks.values()]
    parts = tuple(_part(task, node, subtasks[node.name], apps[node.name]) for node in task.graph.nodes)
    built = Task(
        key=TaskKey(domain=_app(scenario), name=task.name),
        dialect=DIALECT,
        instruction=task.instruction,
        setup=_setup(task, subtasks),
        evaluator=EvaluatorSpec(calls=(), parts=parts, protocol=DIALECT, patience=PATIENCE),
        labels=Labels(
            apps=tuple(dict.fromkeys(apps.values())),
            requires=tuple(sorted({command for need in needs for command in need.commands})),
            os=systems.pop(),
            licences={name: seats for need in needs for name, seats in need.licences.items()},
            extra={key: value for key, value in extra.items() if value},
        ),
        oracle=_oracle(task, subtasks, apps),
        max_steps=MAX_STEPS,
        raw=raw,
    )
    return built if task.trial is None else _with_solution(built, pool[task.trial.subtask], task.trial.values)


def variants(task: Task, graph: GraphTask) -> tuple[Variant, ...]:
    """The task under OmniBench's other conditions: `detail=low`, `intent=given`, `order=2` and so on."""
    variants = []
    if graph.low:
        variants.append(_variant(task, "detail", "low", graph.low))
    if graph.intent:
        variants.append(_variant(task, "intent", "given", f"{task.instruction}\n\nWhat this is for: {graph.intent}"))
    variants += [_variant(task, "order", str(number), text) for number, text in enumerate(graph.orders, start=2)]
    return tuple(variants)


def metric_calls(subtask: Subtask, values: Mapping[str, Any]) -> CompiledExpression:
    """The metric calls that judge a subtask with these parameters. Raises Invalid."""
    if subtask.evaluation:
        return compile_expression(subtask.evaluation, values)
    if subtask.source:
        return compile_function(subtask.source, values)
    raise Invalid(
        "it has no evaluation",
        code="invalid_subtask",
        hint="Give an expression as `evaluation`, or eval_functions/<id>.txt.",
    )


def _with_solution(task: Task, played: Subtask, values: Values) -> Task:
    """The task with the solution of another subtask, and with what that needs on the desktop."""
    steps = [SetupStep(type=step.type, parameters=fill_values(step.parameters, values)) for step in played.setup]
    labels = task.labels.model_copy(
        update={"requires": tuple(sorted({*task.labels.requires, *played.application_needs().commands}))}
    )
    return task.model_copy(
        update={
            "setup": (*task.setup, *(step for step in steps if step not in task.setup)),
            "oracle": None if played.oracle is None else tuple(fill_values(played.oracle, values)),
            "labels": labels,
        }
    )


def _variant(task: Task, axis: str, value: str, instruction: str) -> Variant:
    return Variant(axis=axis, value=value, task=task.model_copy(update={"instruction": instruction}))


def _part(task: GraphTask, node: GraphNode, subtask: Subtask, app: str) -> Part:
    try:
        compiled = metric_calls(subtask, node.values)
        return Part(
            name=node.name,
            kind=PartKind.NODE,
            text=subtask.instruction(node.values),
            calls=compiled.calls,
            conj=compiled.conj,
            app=app,
            after=task.graph.after[node.name],
            each_step=True,
        )
    except Invalid as error:
        raise Invalid(
            f"evaluation: {error}", code="invalid_subtask", path=f"subtask {subtask.id}", hint=error.hint
        ) from error
    except ValidationError as error:
        raise Invalid(
            problem_words(error.errors(include_url=False)[0]), code="invalid_subtask", path=f"node {node.name}"
        ) from error


def _setup(task: GraphTask, subtasks: Mapping[str, Subtask]) -> tuple[SetupStep, ...]:
    """The nodes' steps in an order of the graph; each once, and without those for what a node before makes."""
    steps: list[SetupStep] = []
    nodes = {node.name: node for node in task.graph.nodes}
    for name in task.graph.order():
        before = [nodes[name] for name in task.graph.after[name]]
        products = [resource for node in before for resource in subtasks[node.name].makes(node.values)]
        needed = {resource.name: resource for resource in subtasks[name].needs(nodes[name].values)}
        served = {key for key, resource in needed.items() if any(product.serves(resource) for product in products)}
        for step in subtasks[name].setup:
            ready = SetupStep(type=step.type, parameters=fill_values(step.parameters, nodes[name].values))
            if not (step.provides and served.issuperset(step.provides)) and ready not in steps:
                steps.append(ready)
    return tuple(steps)


def _oracle(
    task: GraphTask, subtasks: Mapping[str, Subtask], apps: Mapping[str, str]
) -> tuple[Mapping[str, JSON], ...] | None:
    """The nodes' solutions one after the other, in an order that loses no coherence; None if one has none."""
    order = best_order(task.graph.after, apps) or task.graph.order()
    actions: list[Mapping[str, JSON]] = []
    for name in order:
        recipe = subtasks[name].oracle
        if recipe is None:
            return None
        actions += fill_values(recipe, task.graph.node(name).values)
    return tuple(actions)


def _app(name: str) -> str:
    """One spelling, which is also a folder's name."""
    return "_".join("".join(char if char.isalnum() else " " for char in name.lower()).split())[:100] or "other"
