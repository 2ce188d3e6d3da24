"""Finds problems of a task before it runs."""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any, Literal

from pydantic import ValidationError

from backend.domain import registry
from backend.domain.benchmarks._faults import faults
from backend.domain.benchmarks._options import call_problems
from backend.domain.errors import Invalid, UnknownPlugin
from backend.domain.model.parameters import ASSET
from backend.domain.model.task import JSON, Frozen, MetricCall, Task
from backend.domain.registry import PluginKind
from backend.domain.setup import check_step
from backend.domain.solutions.steps import read_solution


class TaskLintFinding(Frozen):
    """One problem of a task.

    Attributes:
        path: path in the task file, for example `evaluator.result.0`; empty for the whole task.
        message: the problem.
        hint: the correct form, if known.
        severity: a task with an error cannot be run or scored; a warning is a mistake of upstream that does no harm
            here.
        unknown: description of a set-up step, getter, metric or parameter that is not supported; usually empty.
    """

    path: str
    message: str
    hint: str = ""
    severity: Literal["error", "warning"] = "error"
    unknown: str = ""

    def __str__(self) -> str:
        text = f"{self.path}: {self.message}" if self.path else self.message
        return f"{text} ({self.hint})" if self.hint else text


def lint(task: Task, assets: Collection[str] | None = None) -> list[str]:
    """All known errors of a task; empty if it can be run.

    Covers unknown step types, getters and metrics, wrong parameters and options, missing assets and unreadable
    solutions. Needs no desktop. `findings` includes warnings.

    Args:
        task: the task.
        assets: names of its task set's assets; None skips this check.
    """
    return [str(finding) for finding in findings(task, assets) if finding.severity == "error"]


def findings(task: Task, assets: Collection[str] | None = None) -> list[TaskLintFinding]:
    """All errors and warnings of a task. Arguments as for `lint`."""
    used = _asset_names(task.model_dump(include={"setup", "evaluator"}))
    return [
        *_steps(task),
        *_getters(task),
        *_metrics(task),
        *(_run_check("oracle", "solution", partial(read_solution, task.oracle)) if task.oracle is not None else ()),
        *(
            TaskLintFinding(path="", message=f"asset {name!r} is not in the assets folder")
            for name in sorted(used - set(used if assets is None else assets))
        ),
        *(TaskLintFinding(path=path, message=words, severity="warning") for path, words in faults(task)),
    ]


def _steps(task: Task) -> Iterator[TaskLintFinding]:
    for path, steps in (("config", task.setup), ("evaluator.postconfig", task.evaluator.postconfig)):
        for number, step in enumerate(steps):
            subject = f"set-up step {step.type!r}"
            yield from _run_check(f"{path}.{number}", subject, partial(check_step, step, task.dialect))


def _getters(task: Task) -> Iterator[TaskLintFinding]:
    for number, call in enumerate(task.evaluator.all_calls):
        for path, spec in (("result", call.result), ("expected", call.expected)):
            if spec is not None:
                subject = f"getter {str(spec.get('type'))!r}"
                yield from _run_check(f"evaluator.{path}.{number}", subject, partial(_check_getter, task, spec))


def _check_getter(task: Task, spec: Mapping[str, JSON]) -> None:
    plugin = registry.lookup(PluginKind.GETTER, str(spec.get("type", "")), task.dialect)
    check = getattr(plugin() if isinstance(plugin, type) else plugin, "check", None)
    if check is not None:
        check({key: value for key, value in spec.items() if key != "type"})


def _metrics(task: Task) -> Iterator[TaskLintFinding]:
    for number, call in enumerate(task.evaluator.all_calls):
        path, subject = f"evaluator.func.{number}", f"metric {call.func!r}"
        unknown = list(_run_check(path, subject, partial(registry.lookup, PluginKind.METRIC, call.func, task.dialect)))
        yield from unknown
        if not unknown and call.func != "infeasible":
            yield from _options(task, call, f"evaluator.options.{number}")


def _options(task: Task, call: MetricCall, path: str) -> Iterator[TaskLintFinding]:
    metric: Callable[..., Any] = registry.lookup(PluginKind.METRIC, call.func, task.dialect)
    for words, option in call_problems(metric, call):
        unknown = f"option {option!r} of metric {call.func!r}" if option else ""
        yield TaskLintFinding(path=path, message=f"metric {call.func}: {words}", unknown=unknown)


def _run_check(path: str, subject: str, check: Callable[[], object]) -> Iterator[TaskLintFinding]:
    """Result of a plug-in's own check; a check that crashes is reported as well, as a bug of ours."""
    try:
        check()
    except Invalid as error:
        yield TaskLintFinding(path=path, message=str(error), hint=error.hint, unknown=_unknown(subject, error))
    except Exception as error:  # noqa: BLE001 - whatever a task file says, a report is due and no traceback
        yield TaskLintFinding(
            path=path, message=f"the check of {subject} broke: {type(error).__name__}: {str(error)[:200]}"
        )


def _unknown(subject: str, error: Invalid) -> str:
    """The unsupported name: the plug-in's, or that of an unknown parameter."""
    if isinstance(error, UnknownPlugin):
        return subject
    cause = error.__cause__
    if isinstance(cause, ValidationError):
        wrong = [detail for detail in cause.errors(include_url=False) if detail["type"] == "extra_forbidden"]
        if wrong:
            return f"parameter {'.'.join(map(str, wrong[0]['loc']))!r} of {subject}"
    return ""


def _asset_names(value: JSON) -> set[str]:
    """Every `asset:NAME` in a JSON value."""
    if isinstance(value, str):
        return {value.removeprefix(ASSET)} if value.startswith(ASSET) else set()
    if isinstance(value, Mapping):
        value = list(value.values())
    return set().union(*map(_asset_names, value)) if isinstance(value, list | tuple) else set()
