"""The two halves of an evaluation.

`collect` runs in the worker while the desktop still lives and only gathers raw bytes. `evaluate` runs in a child
process without network, database or desktop; scoring again repeats only this half, on the stored bytes.
"""

import inspect
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain import registry
from backend.domain.errors import EvaluatorFailed, GuestRefused, Invalid, TaskSetupFailed, WebFailed
from backend.domain.ports import Getter, Metric, SetupContext
from backend.domain.registry import Kind
from backend.domain.score import Blob, Evaluation, MetricEvidence, join
from backend.domain.setup import run_step
from backend.domain.task import JSON, Frozen, MetricCall, Task

MAX_SHOWN = 2000  # characters of a value that are kept beside the verdict


class CallEvidence(Frozen):
    """What was gathered for one metric call, in the task's order of calls.

    Attributes:
        result: blobs of the result getter; None if the call has no result getter.
        expected: the same for the expectation.
        notes: what went wrong on the way without making the verdict impossible (a refused post-configuration step).
    """

    result: tuple[Blob, ...] | None = None
    expected: tuple[Blob, ...] | None = None
    notes: tuple[str, ...] = ()


def collect(context: SetupContext, task: Task) -> Sequence[CallEvidence]:
    """Runs the post-configuration, then every getter's worker half: one CallEvidence per metric call.

    A post-configuration step that the guest refuses (its window was closed by the agent, say) is noted and passed
    over: the state that the agent left is what is measured, and no agent may make its own episode lost.

    Raises:
        GuestLost: the desktop is gone.
        EvaluatorFailed: the task itself is wrong (a missing asset, a step's parameters).
    """
    notes = tuple(note for step in task.evaluator.postconfig if (note := _after(context, step.type, step.parameters)))
    return [
        CallEvidence(
            result=_gather(context, task, call.result),
            expected=_gather(context, task, call.expected),
            notes=notes if position == 0 else (),
        )
        for position, call in enumerate(task.evaluator.calls)
    ]


def evaluate(task: Task, evidence: Sequence[CallEvidence], folder: Path) -> Evaluation:
    """The verdict on gathered evidence. Pure: the same evidence gives the same verdict.

    Args:
        task: what was to be done; its evaluator says which metrics judge.
        evidence: from `collect`, same length and order as `task.evaluator.calls`.
        folder: an empty folder for files that metrics want to open; the caller removes it.

    Raises:
        EvaluatorFailed: no verdict can be reached. Never a score instead.
    """
    calls = task.evaluator.calls
    if len(calls) != len(evidence):
        raise EvaluatorFailed(f"the task has {len(calls)} metric calls, the evidence is for {len(evidence)}")
    found = tuple(
        _judge(task, call, gathered, folder / str(position))
        for position, (call, gathered) in enumerate(zip(calls, evidence, strict=True))
    )
    score = join(task.evaluator.conj, [metric.value for metric in found])
    return Evaluation(score=score, measures={"score": score}, metrics=found)


def _after(context: SetupContext, kind: str, parameters: Mapping[str, JSON]) -> str:
    """Runs one post-configuration step; returns why it was passed over, or nothing."""
    try:
        run_step(context, kind, parameters)
    except (GuestRefused, TaskSetupFailed) as error:
        return f"post-configuration step {kind} did not work: {error.message}"
    return ""


def _gather(context: SetupContext, task: Task, spec: Mapping[str, JSON] | None) -> tuple[Blob, ...] | None:
    if spec is None:
        return None
    getter, parameters = _getter(task, spec)
    try:
        return tuple(getter.collect(context, parameters))
    except (TaskSetupFailed, GuestRefused, Invalid, WebFailed) as error:
        raise EvaluatorFailed(f"getter {spec.get('type')}: {error.message}", hint=error.hint) from error


def _getter(task: Task, spec: Mapping[str, JSON]) -> tuple[Getter, Mapping[str, JSON]]:
    plugin = registry.lookup(Kind.GETTER, str(spec.get("type", "")), task.dialect)
    getter: Getter = plugin() if isinstance(plugin, type) else plugin
    return getter, {key: value for key, value in spec.items() if key != "type"}


def _judge(task: Task, call: MetricCall, gathered: CallEvidence, folder: Path) -> MetricEvidence:
    metric: Metric = registry.lookup(Kind.METRIC, call.func, task.dialect)
    result = _read(task, call.result, gathered.result, folder / "result")
    arguments = [result]
    expected = None
    if call.expected is not None:
        expected = _read(task, call.expected, gathered.expected, folder / "expected")
        arguments.append(expected)
    options = dict(call.options)
    if task.evaluator.strict_upstream and "strict_upstream" in inspect.signature(metric).parameters:
        options["strict_upstream"] = True
    try:
        value = metric(*arguments, **options)
    except EvaluatorFailed:
        raise
    except Exception as error:  # A metric that raises has no verdict; guessing one would be a lie.
        raise EvaluatorFailed(f"metric {call.func} broke: {type(error).__name__}: {error}") from error
    return MetricEvidence(
        func=call.func,
        value=value.value,
        reasons=(*gathered.notes, *value.reasons),
        result=shown(result, folder),
        expected=shown(expected, folder),
    )


def _read(task: Task, spec: Mapping[str, JSON] | None, blobs: tuple[Blob, ...] | None, folder: Path) -> Any:
    if spec is None:
        return None
    if blobs is None:
        raise EvaluatorFailed(f"nothing was gathered for getter {spec.get('type')!r}")
    getter, parameters = _getter(task, spec)
    folder.mkdir(parents=True, exist_ok=True)
    return getter.read(blobs, parameters, folder)


def shown(value: Any, folder: Path) -> Any:
    """A short JSON form of what a metric was given; paths lose the temporary folder, long values their end."""
    text = (
        json.dumps(value, default=str, ensure_ascii=False)
        .replace(f"{folder}/result/", "")
        .replace(f"{folder}/expected/", "")
    )
    return json.loads(text) if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + " ..."
