"""Task sets whose metrics judge as published, where the published form is wrong, to reproduce old numbers."""

from backend.domain.model.task import LoadedBenchmark, Task


def strict(loaded: LoadedBenchmark) -> LoadedBenchmark:
    """The same benchmark with every evaluator set to upstream's verdicts; another content, so another version."""
    variants = tuple(variant.model_copy(update={"task": _strict(variant.task)}) for variant in loaded.variants)
    return loaded.model_copy(update={"tasks": tuple(map(_strict, loaded.tasks)), "variants": variants})


def _strict(task: Task) -> Task:
    return task.model_copy(update={"evaluator": task.evaluator.model_copy(update={"strict_upstream": True})})
