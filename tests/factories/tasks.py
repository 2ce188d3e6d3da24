"""Tasks and benchmarks with sensible defaults; a test names only what it is about."""

from typing import Any

from backend.domain.task import EvaluatorSpec, Labels, LoadedBenchmark, MetricCall, Task, TaskKey


def make_task(domain: str = "files", name: str = "rename", *, infeasible: bool = False, **labels: Any) -> Task:
    """A task that compares one file's text, or an infeasible one."""
    call = MetricCall(func="infeasible") if infeasible else MetricCall(func="exact_match", result={"type": "vm_file"})
    return Task(
        key=TaskKey(domain=domain, name=name),
        dialect="starter",
        instruction=f"Do {name} in {domain}.",
        evaluator=EvaluatorSpec(calls=(call,)),
        labels=Labels(feasible=not infeasible, **labels),
    )


def make_benchmark(*tasks: Task, **more: Any) -> LoadedBenchmark:
    """A benchmark of these tasks; without any, of three in two domains."""
    default = (make_task("files", "a", apps=("pcmanfm",)), make_task("files", "b"), make_task("editor", "c"))
    return LoadedBenchmark(kind="starter", tasks=tasks or default, **more)
