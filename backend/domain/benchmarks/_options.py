"""Checks a task's metric calls against the metrics' signatures."""

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, get_type_hints

from pydantic import PydanticSchemaGenerationError, PydanticUndefinedAnnotation, TypeAdapter, ValidationError

from backend.domain.errors import Invalid
from backend.domain.model.task import MetricCall
from backend.domain.model.validation_words import problem_words

Problem = tuple[str, str]
"""The problem, and the name of the unknown option (empty for any other problem)."""

_PLAIN = frozenset({bool, int, float, str})
"""Annotations by which an option is checked; other types are built from JSON later."""


def call_problems(metric: Callable[..., Any], call: MetricCall) -> Iterator[Problem]:
    """Problems of a metric call: arguments that do not fit, unknown options, options of a wrong type.

    For rules that a signature cannot express, a metric's module may define `check_options(options, expected)`, which
    raises Invalid. It receives the options and the specification of the expectation (None if the task has none).
    """
    signature = inspect.signature(metric)
    positional = [p for p in signature.parameters.values() if p.kind in {p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD}]
    count = 1 if call.expected is None else 2
    yield from _arguments(signature, positional, count)
    open_ended = any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
    argument_names = {p.name for p in positional[:count]}
    for name, value in call.options.items():
        parameter = signature.parameters.get(name)
        if (
            parameter is None
            or name in argument_names
            or parameter.kind in {parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL}
        ):
            if not open_ended:
                yield f"it has no option {name[:100]!r}", name
        elif wrong := _wrong_type(metric, name, value):
            yield f"option {name}: {wrong}", ""
    yield from _own_check(metric, call)


def _arguments(signature: inspect.Signature, positional: list[inspect.Parameter], count: int) -> Iterator[Problem]:
    """Checks that a comparing metric has an expectation and any other metric has none."""
    spread = any(p.kind is p.VAR_POSITIONAL for p in signature.parameters.values())
    if len(positional) < count and not spread:
        yield "it takes no expectation, and the task gives one", ""
    required = [p.name for p in positional[count:] if p.default is p.empty]
    if required and required[0] in {"expected", "rule", "rules", "reference", "gold"}:
        yield "it compares with an expectation, and the task gives none", ""


@lru_cache(maxsize=4096)
def _adapter(metric: Callable[..., Any], name: str) -> TypeAdapter[Any] | None:
    try:
        hint = get_type_hints(metric).get(name)
        return TypeAdapter(hint) if hint in _PLAIN else None
    except (NameError, TypeError, PydanticSchemaGenerationError, PydanticUndefinedAnnotation):
        return None


def _wrong_type(metric: Callable[..., Any], name: str, value: Any) -> str:
    adapter = _adapter(metric, name)
    if adapter is None:
        return ""
    try:
        adapter.validate_python(value)
    except ValidationError as error:
        return problem_words(error.errors(include_url=False)[0])
    return ""


def _own_check(metric: Callable[..., Any], call: MetricCall) -> Iterator[Problem]:
    check: Callable[[Mapping[str, Any], Mapping[str, Any] | None], None] | None = getattr(
        sys.modules.get(metric.__module__), "check_options", None
    )
    if check is not None:
        try:
            check(call.options, call.expected)
        except Invalid as error:
            yield str(error), ""
