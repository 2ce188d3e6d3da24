"""Task sets with metrics exactly as published, including upstream's bugs, to reproduce published numbers."""

from backend.domain.model.task import LoadedBenchmark, Task


def strict(loaded: LoadedBenchmark) -> LoadedBenchmark:
    """The same benchmark with upstream's verdicts in every evaluator: different content, so a different version."""
    variants = tuple(variant.model_copy(update={"task": _strict(variant.task)}) for variant in loaded.variants)
    return loaded.model_copy(update={"tasks": tuple(map(_strict, loaded.tasks)), "variants": variants})


def _strict(task: Task) -> Task:
    return task.model_copy(update={"evaluator": task.evaluator.model_copy(update={"strict_upstream": True})})
