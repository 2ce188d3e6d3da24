"""Recorded trajectories, as forms of training data get them."""

from typing import Any

from backend.domain.model.score import PartResult
from backend.domain.model.task import EvaluatorSpec, Labels, Part, PartKind, Task, TaskKey
from backend.domain.model.trajectory import Action, ActionType, Mark
from backend.domain.model.trajectory_export import AgentKind, AttemptResult, ExportedAttempt, PictureRef, RecordedStep
from tests.factories.checkpoints import file_says

TREE = """<desktop-frame xmlns:st="https://accessibility.ubuntu.example.org/ns/state"
 xmlns:cp="https://accessibility.ubuntu.example.org/ns/component">
<panel name="all" st:showing="true" cp:screencoord="(0, 0)" cp:size="(100, 100)">
<push-button name="Save" st:showing="true" cp:screencoord="(10, 10)" cp:size="(20, 10)"/></panel></desktop-frame>"""


def picture(name: str) -> PictureRef:
    return PictureRef((name * 64)[:64], "image/png")


def step(index: int, *actions: Action, **more: Any) -> RecordedStep:
    """A step with its own picture."""
    defaults = {"frame": picture("0123456789abcdef"[index]), "width": 100, "height": 100}
    return RecordedStep(index=index, actions=actions, **{**defaults, **more})


def click(x: int = 12, y: int = 12, **more: Any) -> Action:
    return Action(type=ActionType.CLICK, x=x, y=y, **more)


def mark(**more: Any) -> Mark:
    return Mark.model_validate(
        {"id": 1, "kind": "control", "x": 10, "y": 10, "width": 20, "height": 10, "origin": "tree", **more}
    )


def task(graph: dict[str, tuple[str, ...]] | None = None, **more: Any) -> Task:
    """A task; with a graph, its parts."""
    parts = tuple(
        Part(
            name=name,
            kind=PartKind.NODE,
            text=f"do {name}",
            calls=(file_says(f"/{name}", name),),
            after=after,
            each_step=True,
        )
        for name, after in (graph or {}).items()
    )
    values = {
        "key": TaskKey(domain="files", name="12"),
        "dialect": "common",
        "instruction": "Save the report.",
        "evaluator": EvaluatorSpec(calls=() if parts else (file_says("/end", "done"),), parts=parts),
        "labels": Labels(level="L2"),
        **more,
    }
    return Task.model_validate(values)


def recorded(*steps: RecordedStep, reached: dict[str, int | None] | None = None, **more: Any) -> ExportedAttempt:
    """A trajectory of three steps, by default solved; `reached`: parts with the step that reached them."""
    usual = (
        step(0, click(), explanation="I save it.", tree=lambda: TREE),
        step(1, Action(type=ActionType.TYPING, text="50% {a}"), Action(type=ActionType.DONE), agent_view=picture("f")),
        step(2, final=True),
    )
    results = tuple(
        PartResult(name=name, kind=PartKind.NODE, value=0.0 if at is None else 1.0, text=f"do {name}", step=at)
        for name, at in (reached or {}).items()
    )
    values: dict[str, Any] = {
        "id": "attempt-1",
        "task": task(),
        "benchmark": {"name": "starter", "version": 3, "content_hash": "h"},
        "agent": "prompt",
        "kind": AgentKind.MODEL,
        "result": AttemptResult.SOLVED,
        "score": 1.0,
        "ended_by": "done",
        "steps": steps or usual,
        "measures": {"score": 1.0, "CR": 1.0},
        "parts": results,
        "source": {"run": "r", "episode": "e"},
        **more,
    }
    return ExportedAttempt(**values)
