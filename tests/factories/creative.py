"""Tasks whose work people judge, and works of theirs."""

import io
from collections.abc import Mapping

from PIL import Image

from backend.domain.model.task import EvaluatorSpec, Labels, LoadedBenchmark, MetricCall, Task, TaskKey

POSTER = "/home/user/Pictures/poster.png"


def creative_task(name: str = "poster", expert: str = "") -> Task:
    """A poster that people judge."""
    call = MetricCall(func="handed_in", result={"type": "vm_file", "path": POSTER, "dest": "poster.png"})
    extra = {"expected_output": "A poster of 400 x 300 pixels."} | ({"expert_work": expert} if expert else {})
    return Task(
        key=TaskKey(domain="creative", name=name),
        dialect="prosoftarena",
        instruction="Make a poster.",
        evaluator=EvaluatorSpec(calls=(call,), protocol="prosoftarena"),
        labels=Labels(level="L4", extra=extra),
    )


def creative_benchmark(*tasks: Task, assets: Mapping[str, bytes] | None = None) -> LoadedBenchmark:
    """A benchmark of such tasks."""
    return LoadedBenchmark(kind="prosoftarena", tasks=tasks or (creative_task(),), assets=assets or {})


def picture(colour: tuple[int, int, int]) -> bytes:
    """A small poster."""
    out = io.BytesIO()
    Image.new("RGB", (40, 30), colour).save(out, "PNG")
    return out.getvalue()
