"""What is wrong with a task before it is ever run."""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial

from backend.domain import registry
from backend.domain.agents._oracle_steps import read_solution
from backend.domain.errors import Invalid
from backend.domain.parameters import ASSET
from backend.domain.registry import Kind
from backend.domain.setup import check_step
from backend.domain.task import JSON, Task


def lint(task: Task, assets: Collection[str] | None = None) -> list[str]:
    """Everything that is known to be wrong with a task, each with its place; empty if it can be run.

    Unknown step types, getters and metrics, wrong parameters, missing assets, a solution that cannot be read. Needs no
    desktop.

    Args:
        task: the task.
        assets: names of its task set's assets; None = they are not looked at.
    """
    checks = [*_steps(task), *_getters(task)]
    checks += [
        (f"evaluator.func.{number}", partial(registry.lookup, Kind.METRIC, call.func, task.dialect))
        for number, call in enumerate(task.evaluator.calls)
    ]
    if task.oracle is not None:
        checks.append(("oracle", partial(read_solution, task.oracle)))
    found = [f"{where}: {wrong}" for where, check in checks if (wrong := _complaint(check))]
    used = _asset_names(task.model_dump(include={"setup", "evaluator"}))
    return found + [
        f"asset {name!r} is not in the assets folder" for name in sorted(used - set(used if assets is None else assets))
    ]


Check = tuple[str, Callable[[], object]]


def _complaint(check: Callable[[], object]) -> str:
    try:
        check()
    except Invalid as error:
        return f"{error} ({error.hint})" if error.hint else str(error)
    return ""


def _steps(task: Task) -> Iterator[Check]:
    for place, steps in (("config", task.setup), ("evaluator.postconfig", task.evaluator.postconfig)):
        yield from ((f"{place}.{number}", partial(check_step, step, task.dialect)) for number, step in enumerate(steps))


def _getters(task: Task) -> Iterator[Check]:
    for number, call in enumerate(task.evaluator.calls):
        for place, spec in (("result", call.result), ("expected", call.expected)):
            if spec is not None:
                yield f"evaluator.{place}.{number}", partial(_check_getter, task, spec)


def _check_getter(task: Task, spec: Mapping[str, JSON]) -> None:
    plugin = registry.lookup(Kind.GETTER, str(spec.get("type", "")), task.dialect)
    check = getattr(plugin() if isinstance(plugin, type) else plugin, "check", None)
    if check is not None:
        check({key: value for key, value in spec.items() if key != "type"})


def _asset_names(value: JSON) -> set[str]:
    """Every `asset:NAME` anywhere in a JSON value."""
    if isinstance(value, str):
        return {value.removeprefix(ASSET)} if value.startswith(ASSET) else set()
    if isinstance(value, Mapping):
        value = list(value.values())
    return set().union(*map(_asset_names, value)) if isinstance(value, list | tuple) else set()
