"""Task sets with metrics and criteria exactly as published, including upstream's bugs, to reproduce its numbers."""

from collections.abc import Mapping

from backend.domain.benchmarks._windowsworld_task import CRITERIA, RELEASED
from backend.domain.model.task import EvaluatorSpec, LoadedBenchmark, Task, TaskKey


def strict(loaded: LoadedBenchmark) -> LoadedBenchmark:
    """The same benchmark with upstream's verdicts in every evaluator: different content, so a different version.

    Where a variant has the criteria of the benchmark's released code, the task itself has them in every language.
    """
    released = {
        variant.task.key: variant.task.evaluator
        for variant in loaded.variants
        if (variant.axis, variant.value) == (CRITERIA, RELEASED)
    }
    tasks = tuple(_strict(task, released) for task in loaded.tasks)
    variants = tuple(
        variant.model_copy(update={"task": _strict(variant.task, released if variant.axis == "language" else {})})
        for variant in loaded.variants
        if variant.axis != CRITERIA
    )
    return loaded.model_copy(update={"tasks": tasks, "variants": variants})


def _strict(task: Task, released: Mapping[TaskKey, EvaluatorSpec]) -> Task:
    evaluator = released.get(task.key, task.evaluator)
    return task.model_copy(update={"evaluator": evaluator.model_copy(update={"strict_upstream": True})})
