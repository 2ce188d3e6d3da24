"""`omnibench_tasks`: OmniBench's trajectories of whole tasks, with the order in which nodes were reached."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from backend.domain.model.task import check_order
from backend.domain.model.trajectory_export import ExportedAttempt, PictureRef
from backend.domain.ports.training import Column
from backend.domain.registry import PluginKind, register
from backend.domain.training._omni_actions import observed_pictures, parallel
from backend.domain.training._orders import number_of


@register(PluginKind.TRAINING, "omnibench_tasks")
class OmnibenchTasks:
    """`trajectory_id` is `12 (0)`: task 12, first order of its graph. Benchmark-formats reference, section 1.4.

    Orders are numbered as `_orders` says; incomplete or too large graphs have no number. `source` distinguishes
    trajectories of the same task and order.
    """

    about = "OmniBench's task trajectories: observations, actions, order of the subtasks, intent."
    columns: Mapping[str, Column] | None = None

    def refuses(self, recorded: ExportedAttempt) -> str:
        """Only tasks with parts have an order."""
        return "" if recorded.parts else "the task has no graph of subtasks"

    def rows(self, recorded: ExportedAttempt) -> Iterator[Mapping[str, Any]]:
        order = reached_order(recorded)
        number = _number(recorded, order)
        name = recorded.task.key.name
        yield {
            "trajectory_id": name if number is None else f"{name} ({number})",
            "instruction": recorded.task.instruction,
            **parallel(recorded.acted),
            "task_id": name,
            "topological_order": list(order),
            "intent": intent_of(recorded),
            "source": dict(recorded.source),
        }

    def pictures(self, recorded: ExportedAttempt) -> Iterable[PictureRef]:
        return observed_pictures(recorded.acted)


def reached_order(recorded: ExportedAttempt) -> Sequence[str]:
    """Names of the reached parts in the order in which they were reached; of one step, as the graph has them."""
    graph = {part.name: part.after for part in recorded.task.evaluator.parts}
    order = {name: number for number, name in enumerate(check_order(graph))}
    reached = [part for part in recorded.parts if part.reached and part.step is not None]
    return [part.name for part in sorted(reached, key=lambda part: (part.step, order.get(part.name, 0)))]


def intent_of(recorded: ExportedAttempt) -> str:
    """The task's intent from its file; may be empty."""
    return str(recorded.task.raw.get("task_intent") or recorded.task.labels.extra.get("intent") or "")


def _number(recorded: ExportedAttempt, order: Sequence[str]) -> int | None:
    graph = {part.name: part.after for part in recorded.task.evaluator.parts}
    if len(order) < len(graph):
        return None
    try:
        return number_of(order, graph)
    except ValueError:
        return None  # Judged again by a newer graph, or by someone who named the steps in another order.
