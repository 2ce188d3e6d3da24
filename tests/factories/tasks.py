"""Tasks and benchmarks with sensible defaults; a test gives only the values it is about."""

from typing import Any

from backend.domain.model.task import EvaluatorSpec, Labels, LoadedBenchmark, MetricCall, Part, PartKind, Task, TaskKey
from backend.domain.omnibench.expression import DIALECT, FUNCTION, compile_function


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


def judged_by_function(domain: str = "files", name: str = "rename", **labels: Any) -> Task:
    """A task whose only part is judged by an evaluation function in Python, as OmniBench's files have them."""
    source = f"def {FUNCTION}():\n    return check_clipboard_contains('x')"
    part = Part(name="a", kind=PartKind.NODE, calls=compile_function(source, {}).calls, each_step=True)
    return Task(
        key=TaskKey(domain=domain, name=name),
        dialect=DIALECT,
        instruction=f"Do {name} in {domain}.",
        evaluator=EvaluatorSpec(calls=(), parts=(part,), protocol=DIALECT),
        labels=Labels(**labels),
    )


def make_benchmark(*tasks: Task, **more: Any) -> LoadedBenchmark:
    """A benchmark of these tasks; without any, of three in two domains."""
    default = (make_task("files", "a", apps=("pcmanfm",)), make_task("files", "b"), make_task("editor", "c"))
    return LoadedBenchmark(kind="starter", tasks=tasks or default, **more)
