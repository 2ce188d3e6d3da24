"""Which evidence a verdict needs, and whether stored evidence satisfies another task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.db.models import Evidence
from backend.db.models.enums import EvidenceRole
from backend.domain import registry
from backend.domain.errors import DeskarenaError
from backend.domain.evaluators.evaluate import CallEvidence
from backend.domain.judging.criteria import JUDGE
from backend.domain.model.task import JSON, MetricCall, Task
from backend.domain.registry import PluginKind

MAX_WORDS = 300
Spec = Mapping[str, JSON]


@dataclass(frozen=True)
class EvidenceSide:
    """One getter of a metric call.

    Attributes:
        role: result or expectation.
        getter: its name.
        spec: the getter with its parameters.
        rows: stored evidence for it.
        anew: whether it needs no desktop and is gathered again.
    """

    role: EvidenceRole
    getter: str
    spec: Spec
    rows: Sequence[Evidence] = ()
    anew: bool = False


@dataclass(frozen=True)
class EvidencePlan:
    """Sources of all evidence that a task's metrics need.

    Attributes:
        calls: the getters of each metric call, in the task's order.
        notes: of each call, from when the evidence was gathered.
        steps: of each call, the step after which the evidence was gathered; None = at the end.
        opened: of each call, False if its part's turn never came.
        missing: missing evidence, as text; the plan is usable only if it is empty.
    """

    calls: list[list[EvidenceSide]] = field(default_factory=list)
    notes: list[tuple[str, ...]] = field(default_factory=list)
    steps: list[int | None] = field(default_factory=list)
    opened: list[bool] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @property
    def gathered(self) -> list[CallEvidence]:
        """Facts about each call's evidence besides its bytes."""
        rows = zip(self.notes, self.steps, self.opened, strict=True)
        return [CallEvidence(notes=notes, step=step, opened=opened) for notes, step, opened in rows]


def spec_of(task: Task, gathered: Sequence[CallEvidence] = ()) -> dict[str, Any]:
    """Specification of a task's evaluator, as stored with its verdict.

    Args:
        task: task of the evaluator.
        gathered: per metric call, the evidence: errors, and when it was gathered.
    """
    evaluator = task.evaluator
    return {
        "dialect": task.dialect,
        "conj": evaluator.conj,
        "strict_upstream": evaluator.strict_upstream,
        "postconfig": [step.model_dump(mode="json") for step in evaluator.postconfig],
        "calls": [
            {**call.model_dump(mode="json"), **_circumstances(gathered[index] if index < len(gathered) else None)}
            for index, call in enumerate(evaluator.all_calls)
        ],
    }


def _circumstances(evidence: CallEvidence | None) -> dict[str, Any]:
    """Metadata of a call's evidence besides its bytes; defaults are left out."""
    if evidence is None:
        return {"notes": []}
    more: dict[str, Any] = {} if evidence.step is None else {"step": evidence.step}
    if not evidence.opened:
        more["opened"] = False
    if evidence.failures:
        more["failures"] = {failure.side: failure.message for failure in evidence.failures}
    return {"notes": list(evidence.notes), **more}


def _failures(call: Mapping[str, Any]) -> Mapping[str, str]:
    """Why evidence of a stored call could not be gathered, by role."""
    failures: Mapping[str, str] = call.get("failures", {})
    return failures


def plan_of(
    task: Task, old: Mapping[str, Any], rows: Sequence[Evidence], *, same_task: bool, ask: bool = False
) -> EvidencePlan:
    """How the task's evaluator can be satisfied without a desktop.

    Args:
        task: task to evaluate by.
        old: what was needed when the evidence was gathered (`spec_of`).
        rows: that evidence.
        same_task: whether it is the task for which the evidence was gathered. For another task, what needs no desktop
            (rules, reference files) is gathered again.
        ask: ask a judge even if there is a stored judgement: it uses stored pictures and needs no desktop.
    """
    plan = EvidencePlan()
    calls = old.get("calls", [])
    for index, call in enumerate(task.evaluator.all_calls):
        sides: list[EvidenceSide] = []
        old_call = _earlier_call(calls, call, index)
        for role, spec in ((EvidenceRole.RESULT, call.result), (EvidenceRole.EXPECTED, call.expected)):
            if spec is None:
                continue
            if not old_call.get("opened", True):
                continue
            side = _side(task, role, spec, (calls, rows, index), same_task=same_task)
            failure = _failures(old_call).get(role.value, "")
            if spec.get("type") == JUDGE and (ask or failure or (side is not None and not _answered(side))):
                side = EvidenceSide(role, JUDGE, spec, anew=True)
            elif side is None and failure and needs_no_desktop(task, spec):
                side = EvidenceSide(role, str(spec.get("type", "")), spec, anew=True)
            if side is None:
                label = f"metric {index + 1} ({call.func}), {role}: {str(dict(spec))[:MAX_WORDS]}"
                plan.missing.append(f"{label} ({failure[:MAX_WORDS]})" if failure else label)
            else:
                sides.append(side)
        plan.calls.append(sides)
        plan.notes.append(tuple(old_call.get("notes", ())))
        plan.steps.append(old_call.get("step"))
        plan.opened.append(old_call.get("opened", True))
    return plan


def _earlier_call(calls: Sequence[Mapping[str, Any]], call: MetricCall, index: int) -> Mapping[str, Any]:
    """The old call that this one repeats: the one at its position, else the first with the same getters."""
    order = sorted(range(len(calls)), key=lambda position: (position != index, position))
    for sides in (("result", "expected"), ("result",)):
        for position in order:
            if all(calls[position].get(side) == getattr(call, side) for side in sides):
                return calls[position]
    # Another getter was at this position: evidence is missing, rather than "never reached".
    return {"notes": calls[index].get("notes", ())} if index < len(calls) else {}


def _side(
    task: Task,
    role: EvidenceRole,
    spec: Spec,
    stored: tuple[Sequence[Mapping[str, Any]], Sequence[Evidence], int],
    *,
    same_task: bool,
) -> EvidenceSide | None:
    getter = str(spec.get("type", ""))
    if not same_task and needs_no_desktop(task, spec):
        return EvidenceSide(role, getter, spec, anew=True)
    calls, rows, index = stored
    order = sorted(range(len(calls)), key=lambda position: (position != index, position))
    for evidence_role in (role, *(other_role for other_role in EvidenceRole if other_role is not role)):
        for position in order:
            stored_call = calls[position]
            if stored_call.get(evidence_role.value) == spec and evidence_role.value not in _failures(stored_call):
                evidence = [row for row in rows if row.position == position and row.role == evidence_role.value]
                return EvidenceSide(role, getter, spec, rows=evidence)
    return None


def _answered(side: EvidenceSide) -> bool:
    """Whether a judgement was stored."""
    return any(row.sha256 for row in side.rows)


class DesklessContext:
    """A SetupContext without desktop, browser or web: using one of them means that a desktop is needed."""

    def __init__(self, task: Task, assets: Mapping[str, bytes] | None = None) -> None:
        self.task = task
        self._assets = assets

    def asset(self, name: str) -> bytes:
        """Bytes of an asset; without assets, empty: then only the request counts."""
        if self._assets is None:
            return b""
        if name not in self._assets:
            raise NeedsDesktop(f"the task set has no file {name!r}")
        return self._assets[name]

    def __getattr__(self, name: str) -> Any:
        """Everything else needs the desktop."""
        raise NeedsDesktop(name)


class NeedsDesktop(Exception):  # noqa: N818 - an answer, not an error.
    """A getter used something that only a desktop has."""


def needs_no_desktop(task: Task, spec: Spec) -> bool:
    """True for getters such as `rule` and `cloud_file`, whose evidence is part of the task set."""
    plugin = registry.lookup(PluginKind.GETTER, str(spec.get("type", "")), task.dialect)
    getter = plugin() if isinstance(plugin, type) else plugin
    try:
        getter.collect(DesklessContext(task), {key: value for key, value in spec.items() if key != "type"})
    except NeedsDesktop:
        return False
    except DeskarenaError:
        return True  # Its own error, about a parameter for example, is reported when it is called for real.
    return True
