"""Evaluation of WindowsWorld's tasks: checkpoints by a judge or a check, assertions by formulas, L4 by FAIL."""

import re
from collections.abc import Collection, Iterator

from backend.domain.benchmarks._windowsworld_format import (
    WindowsWorldCall,
    WindowsWorldCheck,
    WindowsWorldStep,
    WindowsWorldTask,
)
from backend.domain.benchmarks._windowsworld_names import file_name, path_of, text_of, unknown_place
from backend.domain.errors import Invalid
from backend.domain.formats.assertions import PASSING, AssertionFact, Formula, parse
from backend.domain.model.task import EvaluatorSpec, MetricCall, Part, PartKind, SetupStep

PROTOCOL = "windowsworld"
INFEASIBLE = "L4"
_PATH = re.compile(r'(file_exists|file_exists_in_folder|file_contains\w*|folder_exists|image_\w+)\("((?:[^"\\]|\\.)*)"')
_OF_TEXT = frozenset({"file_contains", "clipboard_contains"})
_PLACEHOLDER = re.compile(r"[a-z]+(?:_[a-z]+)+")


def judge_call(part: str) -> MetricCall:
    """The judge's verdict on a checkpoint, or on the end state (`final`), from its single reply for an attempt."""
    return MetricCall(func="vlm_judge", result={"type": "vlm_judge"}, options={"part": part})


def evaluator_of(entry: WindowsWorldTask, warnings: list[str]) -> EvaluatorSpec:
    """The evaluator of a task; unusable parts become warnings.

    An L4 task is solved only by answering FAIL; judge and assertions are not used, and an episode without an answer is
    not solved.
    """
    additions = entry.deskarena
    if entry.task_category == INFEASIBLE:
        return EvaluatorSpec(calls=(MetricCall(func="infeasible"),), protocol=PROTOCOL)
    final = tuple(map(_call, additions.final)) or (judge_call("final"),)
    parts = (*_checkpoints(entry), *_assertions(entry, warnings))
    metrics = entry.evaluation_metrics
    return EvaluatorSpec(
        calls=final,
        postconfig=_steps(additions.postconfig),
        parts=parts,
        protocol=PROTOCOL,
        text=text_of(metrics.expected_final_state or metrics.success_criterion),
    )


def as_released(entry: WindowsWorldTask) -> EvaluatorSpec | None:
    """The evaluator with the criteria that WindowsWorld's released code gives its judge; None without a judge.

    They are the published texts, and for the end state `success_criterion`, not `expected_final_state`.
    """
    spec = evaluator_of(entry, [])
    if all(call.func != "vlm_judge" for call in spec.calls):
        return None
    metrics = entry.evaluation_metrics
    return spec.model_copy(update={"text": text_of(metrics.success_criterion or metrics.expected_final_state or "")})


def without_judge(spec: EvaluatorSpec, present: Collection[str]) -> EvaluatorSpec | None:
    """The same evaluator with only the assertions, for use without a judge.

    Args:
        spec: the task's entry.
        present: paths of the files that exist at the start.

    Returns:
        None if an untouched desktop would satisfy the assertions: no binding one is about a file that has yet to be
        created.
    """
    assertions = tuple(part for part in spec.parts if part.kind is PartKind.ASSERTION)
    binding = [parse(str((part.calls[0].result or {})["expression"])) for part in assertions if part.weight > 0]
    tells = any(formula.op == "fact" and fact.text not in present for formula in binding for fact in formula.facts())
    if not tells or all(call.func != "vlm_judge" for call in spec.calls):
        return None
    return EvaluatorSpec(calls=(), postconfig=spec.postconfig, parts=assertions, protocol=spec.protocol)


def _checkpoints(entry: WindowsWorldTask) -> Iterator[Part]:
    checks = entry.deskarena.checks
    texts = entry.evaluation_metrics.intermediate_checks
    if checks is not None and len(checks) != len(texts):
        raise Invalid(
            f"{len(texts)} checkpoints have {len(checks)} checks", code="invalid_task_file", path="deskarena.checks"
        )
    for number, text in enumerate(texts, start=1):
        check = checks[number - 1] if checks is not None else None
        name = f"c{number}"
        yield Part(
            name=name,
            kind=PartKind.CHECKPOINT,
            text=text_of(text),
            calls=(judge_call(name) if check is None else _call(check),),
            after=tuple(f"c{before}" for before in (check.after if check is not None else ())),
            each_step=check is not None and check.each_step,
        )


def _call(call: WindowsWorldCall | WindowsWorldCheck) -> MetricCall:
    return MetricCall(func=call.func, result=call.result, expected=call.expected, options=call.options)


def _steps(steps: list[WindowsWorldStep]) -> tuple[SetupStep, ...]:
    return tuple(SetupStep(type=step.type, parameters=step.parameters) for step in steps)


def _assertions(entry: WindowsWorldTask, warnings: list[str]) -> Iterator[Part]:
    """One part for each assertion that can be executed.

    An assertion about files is binding: it speaks of the end state, as the judge does. One about a moment (a window in
    front, the clipboard) is checked during the episode and is not binding; neither is its negation.
    """
    for number, text in enumerate(entry.evaluation_metrics.assertions, start=1):
        path = f"{entry.task_id}: evaluation_metrics.assertions.{number - 1}"
        expression = _PATH.sub(_with_path, text)
        try:
            formula = parse(expression)
        except Invalid as error:
            warnings.append(f"{path}: not executed: {text[:200]}: {error.message}")
            continue
        reason = _unusable(formula, entry)
        if reason:
            warnings.append(f"{path}: not executed: {text[:200]}: {reason}")
            continue
        looked_at = {"type": "written_assertion", "expression": expression}
        yield Part(
            name=f"a{number}",
            kind=PartKind.ASSERTION,
            text=text,
            calls=(MetricCall(func="written_assertion", result=looked_at),),
            weight=float(not any(fact.name in PASSING for fact in formula.facts())),
            each_step=formula.passing,
        )


def _with_path(match: "re.Match[str]") -> str:
    path = path_of(match.group(2).replace("\\\\", "\\"))
    return f'{match.group(1)}("{path}"'


def _unusable(formula: Formula, entry: WindowsWorldTask) -> str:
    """Why a readable formula must not be executed; empty if it may be."""
    return next((reason for fact in formula.facts() if (reason := _wrong(fact, entry))), "")


def _wrong(fact: AssertionFact, entry: WindowsWorldTask) -> str:
    text = str(fact.args[-1])
    if fact.name in _OF_TEXT and _PLACEHOLDER.fullmatch(text) and text not in entry.instruction:
        return f"{text!r} is the name of a value, no text"
    if fact.name in PASSING:
        return ""
    if unknown_place(fact.text):
        return f"no desktop has {unknown_place(fact.text)}"
    return "" if _named(file_name(fact.text), entry) else f"the task's own words name no {file_name(fact.text)!r}"


def _named(name: str, entry: WindowsWorldTask) -> bool:
    """Whether an agent can know of a file: the task, its checkpoints or its set-up mention the name."""
    metrics, environment = entry.evaluation_metrics, entry.environment_setup
    texts = [entry.instruction, entry.instruction_cn, metrics.success_criterion, metrics.expected_final_state or ""]
    texts += [*metrics.intermediate_checks, *entry.pre_conditions]
    texts += [f"{file.file_path}{file.filename}" for file in environment.files_to_create]
    texts += [resource.save_as for resource in environment.downloadable_resources]
    return any(name in text for text in texts) or name.startswith("*.")
