"""The two halves of an evaluation.

`collect` runs in the worker while the desktop is alive and only gathers raw bytes. `evaluate` runs in a child process
without network, database or desktop. Re-evaluation repeats only the second half, on the stored bytes.
"""

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from backend.domain import registry
from backend.domain.errors import (
    DeskarenaError,
    EvaluatorFailed,
    GuestRefused,
    Invalid,
    MissingInput,
    TaskSetupFailed,
    WebFailed,
    sentences,
)
from backend.domain.judging.criteria import criteria_of
from backend.domain.model.episode import EndedBy
from backend.domain.model.score import (
    GAVE_UP,
    HANDED_IN,
    Blob,
    Evaluation,
    MetricEvidence,
    MetricValue,
    PartResult,
    Verdict,
    is_solved,
    join,
)
from backend.domain.model.task import JSON, EvaluatorSpec, Frozen, MetricCall, Part, SetupStep, Task
from backend.domain.ports.task import Getter, Metric, ScoringProtocol, SetupContext
from backend.domain.registry import PluginKind
from backend.domain.setup import check_step, run_step

T = TypeVar("T")
_BY_WHAT_IS_LEFT: Mapping[str, frozenset[str]] = {
    "open": frozenset({"failed", "timeout"}),
    **dict.fromkeys(("activate_window", "close_window", "close_all"), frozenset({"failed"})),
}
"""Guest errors that are caused by the end state (a file without an application, a window that stays open)."""
MAX_SHOWN = 2000  # characters of a value that are stored with the verdict


class GatherFailure(Frozen):
    """Why a getter's evidence could not be gathered.

    Attributes:
        side: `result` or `expected`.
        code: of the error.
        message: at most `MAX_SHOWN` characters.
    """

    side: str
    code: str
    message: str


class CallEvidence(Frozen):
    """Evidence of one metric call, in the order of the task's calls.

    Attributes:
        result: blobs of the result getter; None if the call has no result getter.
        expected: the same for the expectation.
        notes: problems that do not prevent a verdict (a refused post-configuration step).
        step: index of the step after which it was collected; None = at the end.
        opened: False if it was never collected, because its part was never reached.
        failures: of getters that could not gather theirs; there is no verdict then.
    """

    result: tuple[Blob, ...] | None = None
    expected: tuple[Blob, ...] | None = None
    notes: tuple[str, ...] = ()
    step: int | None = None
    opened: bool = True
    failures: tuple[GatherFailure, ...] = ()


NEVER_OPENED = CallEvidence(opened=False)


def collect(
    context: SetupContext, task: Task, on_the_way: Mapping[str, Sequence[CallEvidence]] | None = None
) -> Sequence[CallEvidence]:
    """Runs the post-configuration, then the `collect` half of every getter: one CallEvidence per call of `all_calls`.

    A post-configuration step that the guest refuses because of the end state (the agent closed its window, say) is
    noted and skipped, so that no agent can make its own episode lost. A step that fails twice for a temporary reason
    raises: without it, unsaved work would look missing. A getter that fails does not keep the others from gathering
    theirs; `check_gathered` raises its error.

    Args:
        context: the desktop and what else a getter may use.
        task: the task.
        on_the_way: evidence of the parts that are evaluated after each step; a part that is missing here was never
            reached.

    Raises:
        GuestLost: the desktop is gone.
        EvaluatorFailed: the post-configuration is wrong (a missing asset, a step's parameters), or the desktop did not
            carry it out, not even on a second try.
    """
    spec, before = task.evaluator, on_the_way or {}
    notes = tuple(note for step in spec.postconfig if (note := _after(context, step)))
    evidence = [gather(context, task, call) for call in spec.calls]
    for part in spec.parts:
        if part.each_step:
            evidence += before.get(part.name, [NEVER_OPENED] * len(part.calls))
        else:
            evidence += [gather(context, task, call) for call in part.calls]
    return (
        [evidence[0].model_copy(update={"notes": (*notes, *evidence[0].notes)}), *evidence[1:]]
        if notes and evidence
        else evidence
    )


def not_gathered(
    task: Task, reason: str, on_the_way: Mapping[str, Sequence[CallEvidence]] | None = None
) -> Sequence[CallEvidence]:
    """Evidence of a desktop that can no longer be read: nothing but that of the parts evaluated after each step."""
    spec, before = task.evaluator, on_the_way or {}
    nothing = CallEvidence(opened=False, notes=(reason,))
    evidence = [nothing for _ in spec.calls]
    for part in spec.parts:
        early_evidence = before.get(part.name) if part.each_step else None
        evidence += early_evidence if early_evidence is not None else [nothing] * len(part.calls)
    return evidence


def gather(context: SetupContext, task: Task, call: MetricCall) -> CallEvidence:
    """Runs the `collect` half of one metric call's getters. Raises as `collect` does."""
    blobs: dict[str, tuple[Blob, ...] | None] = {}
    failures = []
    for side, spec in (("result", call.result), ("expected", call.expected)):
        try:
            blobs[side] = _gather(context, task, spec)
        except EvaluatorFailed as error:
            message = sentences(error.message, error.hint)[:MAX_SHOWN]
            failures.append(GatherFailure(side=side, code=error.code, message=message))
    return CallEvidence(result=blobs.get("result"), expected=blobs.get("expected"), failures=tuple(failures))


def check_gathered(evidence: Sequence[CallEvidence]) -> None:
    """Raises EvaluatorFailed with the first failure of a getter, if there is any."""
    for call in evidence:
        for failure in call.failures:
            raise EvaluatorFailed(failure.message, code=failure.code)


def evaluate(
    task: Task, evidence: Sequence[CallEvidence], folder: Path, *, ended_by: EndedBy = EndedBy.DONE
) -> Evaluation:
    """The verdict on collected evidence. Pure: the same evidence gives the same verdict.

    Args:
        task: the task, whose evaluator names the metrics.
        evidence: from `collect`, same length and order as `task.evaluator.all_calls`.
        folder: an empty folder for files that metrics want to open; the caller removes it.
        ended_by: how the episode ended; a feasible task that the agent gave up scores 0, and its measures show the
            progress before that.

    Raises:
        EvaluatorFailed: there is no verdict.
    """
    spec = task.evaluator
    calls = spec.all_calls
    if len(calls) != len(evidence):
        raise EvaluatorFailed(
            f"the task has {len(calls)} metric calls, the evidence is for {len(evidence)}", code="evidence_mismatch"
        )
    verdicts = [
        _judge(task, call, gathered, folder / str(position))
        for position, (call, gathered) in enumerate(zip(calls, evidence, strict=True))
    ]
    parts = tuple(_part(spec, part, verdicts, evidence) for part in spec.parts)
    owners = ["" for _ in spec.calls] + [part.name for part in spec.parts for _ in part.calls]
    metrics = [entry.model_copy(update={"part": owner}) for (entry, _), owner in zip(verdicts, owners, strict=True)]
    if spec.handed_in:
        return Evaluation(score=None, measures={}, metrics=tuple(metrics), rule=HANDED_IN, parts=parts)
    verdict = _verdict(spec, [value.value for _, value in verdicts[: len(spec.calls)]], parts)
    gave_up = ended_by is EndedBy.INFEASIBLE and not spec.infeasible
    score = 0.0 if gave_up or ended_by is EndedBy.STALLED else verdict.score
    return Evaluation(
        score=score,
        measures={**verdict.measures, "score": score},
        metrics=tuple(metrics),
        rule=GAVE_UP if gave_up else "",
        parts=parts,
    )


def evaluate_part(task: Task, part: Part, evidence: Sequence[CallEvidence], folder: Path) -> MetricValue:
    """The verdict on one part, from the evidence of its own calls; see `evaluate` for the rest.

    Raises:
        EvaluatorFailed: there is no verdict.
    """
    values = [
        _judge(task, call, gathered, folder / str(position))[1]
        for position, (call, gathered) in enumerate(zip(part.calls, evidence, strict=True))
    ]
    return _join_values(part, values)


def _verdict(spec: EvaluatorSpec, values: Sequence[float], parts: Sequence[PartResult]) -> Verdict:
    if not spec.protocol:
        return Verdict(score=join(spec.conj, values))
    protocol: ScoringProtocol = registry.lookup(PluginKind.PROTOCOL, spec.protocol)()
    return protocol(spec, join(spec.conj, values) if values else None, parts)


def _part(
    spec: EvaluatorSpec,
    part: Part,
    verdicts: Sequence[tuple[MetricEvidence, MetricValue]],
    evidence: Sequence[CallEvidence],
) -> PartResult:
    places = spec.places(part)
    joined = _join_values(part, [verdicts[place][1] for place in places])
    steps = [gathered.step for place in places if (gathered := evidence[place]).step is not None]
    step = max(steps, default=joined.step) if is_solved(joined.value) else None
    return PartResult(
        name=part.name,
        kind=part.kind,
        value=joined.value,
        text=part.text,
        app=part.app,
        weight=part.weight,
        step=step,
        progress=joined.progress,
        reasons=joined.reasons,
        opened=all(evidence[place].opened for place in places),
    )


def _join_values(part: Part, values: Sequence[MetricValue]) -> MetricValue:
    steps = [value.step for value in values if value.step is not None]
    shares = [value.value if value.progress is None else value.progress for value in values]
    return MetricValue(
        value=join(part.conj, [value.value for value in values]),
        reasons=tuple(reason for value in values for reason in value.reasons),
        step=max(steps, default=None),
        progress=sum(shares) / len(shares),
    )


def _after(context: SetupContext, step: SetupStep) -> str:
    """Runs one post-configuration step; returns why it was skipped, or nothing. Raises as `collect` does."""
    label = f"post-configuration step {step.type}"
    try:
        check_step(step, context.task.dialect)
        _patiently(lambda: run_step(context, step.type, step.parameters))
    except (MissingInput, Invalid, WebFailed) as error:
        raise EvaluatorFailed(f"{label}: {error.message}", code="evidence_not_gathered", hint=error.hint) from error
    except TaskSetupFailed as error:
        return f"{label} failed: {error.message}"
    except GuestRefused as error:
        if error.may_pass and error.kind not in _BY_WHAT_IS_LEFT.get(step.type, ()):
            raise EvaluatorFailed(f"{label}: {error.message}", code="evidence_not_gathered", hint=error.hint) from error
        return f"{label} failed: {error.message}"
    return ""


def _gather(context: SetupContext, task: Task, spec: Mapping[str, JSON] | None) -> tuple[Blob, ...] | None:
    if spec is None:
        return None
    getter, parameters = _getter(task, spec)
    try:
        return _patiently(lambda: tuple(getter.collect(context, parameters)))
    except (TaskSetupFailed, GuestRefused, Invalid, WebFailed) as error:
        raise EvaluatorFailed(
            f"getter {spec.get('type')}: {error.message}", code="evidence_not_gathered", hint=error.hint
        ) from error
    except DeskarenaError:
        raise
    except Exception as error:  # A getter that raises has no evidence; those of the other getters count.
        raise EvaluatorFailed(
            f"getter {spec.get('type')} raised {type(error).__name__}: {error}", code="evidence_not_gathered"
        ) from error


def _patiently(ask: Callable[[], T]) -> T:
    """Retries once if a program of the desktop timed out or failed: the desktop may have been busy."""
    try:
        return ask()
    except GuestRefused as error:
        if not error.may_pass:
            raise
    return ask()


def _getter(task: Task, spec: Mapping[str, JSON]) -> tuple[Getter, Mapping[str, JSON]]:
    plugin = registry.lookup(PluginKind.GETTER, str(spec.get("type", "")), task.dialect)
    getter: Getter = plugin() if isinstance(plugin, type) else plugin
    return getter, {key: value for key, value in spec.items() if key != "type"}


def _judge(task: Task, call: MetricCall, gathered: CallEvidence, folder: Path) -> tuple[MetricEvidence, MetricValue]:
    if not gathered.opened:
        never = MetricValue(value=0.0, reasons=gathered.notes or ("not evaluated: an earlier part was not reached",))
        return MetricEvidence(func=call.func, value=0.0, reasons=never.reasons), never
    check_gathered([gathered])
    metric: Metric = registry.lookup(PluginKind.METRIC, call.func, task.dialect)
    result = _read(task, call.result, gathered.result, folder / "result")
    arguments = [result]
    expected = None
    if call.expected is not None:
        expected = _read(task, call.expected, gathered.expected, folder / "expected")
        arguments.append(expected)
    options = {**call.options, **_task_options(task, metric)}
    try:
        value = metric(*arguments, **options)
    except EvaluatorFailed:
        raise
    except Exception as error:  # A metric that raises has no verdict; guessing one would be wrong.
        message = f"metric {call.func} raised {type(error).__name__}: {error}"
        if isinstance(error, MemoryError | OSError):
            raise EvaluatorFailed(message, code="evaluator_crashed") from error
        raise EvaluatorFailed(message, code="metric_broke") from error
    evidence = MetricEvidence(
        func=call.func,
        value=value.value,
        reasons=(*gathered.notes, *value.reasons),
        result=short_value(result, folder),
        expected=short_value(expected, folder),
    )
    return evidence, value


def _task_options(task: Task, metric: Metric) -> dict[str, Any]:
    """Facts about the task that some metrics need besides their options."""
    parameters = inspect.signature(metric).parameters
    options: dict[str, Any] = {"criteria": criteria_of(task)} if "criteria" in parameters else {}
    if task.evaluator.strict_upstream and "strict_upstream" in parameters:
        options["strict_upstream"] = True
    return options


def _read(task: Task, spec: Mapping[str, JSON] | None, blobs: tuple[Blob, ...] | None, folder: Path) -> Any:
    if spec is None:
        return None
    if blobs is None:
        raise EvaluatorFailed(f"no evidence was collected for getter {spec.get('type')!r}", code="evidence_missing")
    getter, parameters = _getter(task, spec)
    folder.mkdir(parents=True, exist_ok=True)
    return getter.read(blobs, parameters, folder)


def short_value(value: Any, folder: Path) -> Any:
    """A short JSON form of a metric's argument: without the temporary folder, long values truncated."""
    text = (
        json.dumps(value, default=str, ensure_ascii=False)
        .replace(f"{folder}/result/", "")
        .replace(f"{folder}/expected/", "")
    )
    return json.loads(text) if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + " ..."
