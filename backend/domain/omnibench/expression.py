"""Evaluation functions in a safe form: an expression of checks, which is read and never run as code.

    check_keyboard_types(name) and check_file_exists("/home/user/{name}.txt") and not check_window_exists("Save")

There are `and`, `or`, `not`, brackets, the eleven calls of OmniBench, texts and numbers, and the subtask's parameters
by their names or as `{name}` inside a text. The calls' meaning is fixed: docs/benchmarks/omnibench.md.
"""

import ast
import math
from collections.abc import Mapping
from typing import Any

from backend.domain.errors import Invalid
from backend.domain.model.task import JSON, Frozen, MetricCall
from backend.domain.omnibench.subtask import Values, fill_values

CALLS: Mapping[str, tuple[str, ...]] = {
    "check_mouse_clicks": ("text",),
    "check_keyboard_types": ("text",),
    "check_file_exists": ("file_path",),
    "check_text_exists_via_ocr": ("text",),
    "check_text_exists_via_control": ("text",),
    "check_text_exists": ("text",),
    "check_clipboard_contains": ("text",),
    "check_text_under_cursor": ("text",),
    "check_window_exists": ("title",),
    "check_setting_equals": ("name", "value"),
    "check_file_contains": ("file_path", "text"),
}
"""The eleven calls with their parameters, in order; all are required."""
DIALECT = "omnibench"
FACTS, EXPRESSION, FUNCTION = "facts", "check_expression", "evaluate_agent_task_completion"
MOST_CHECKS = 50
_MOST_DEEP = 20
_MOST_LONG = 4000

Tree = Mapping[str, JSON]
"""`{"fact": position}`, `{"not": tree}`, `{"and": [trees]}` or `{"or": [trees]}`."""


class CompiledExpression(Frozen):
    """Metric calls that judge a subtask, joined by `conj`."""

    calls: tuple[MetricCall, ...]
    conj: str = "and"


def compile_expression(text: str, values: Values) -> CompiledExpression:
    """Compiles an expression with these parameters.

    One check, or several that are all joined by `and` or all by `or`, become as many metric calls, so that each is
    shown with its own evidence. Any other form becomes one call of `check_expression` over the facts.

    Raises:
        Invalid: the expression is invalid; the message says why.
    """
    facts: list[Mapping[str, JSON]] = []
    try:
        tree = _read(_parse(text), values, facts, 0)
    except RecursionError as error:
        raise Invalid("it is nested too deep", code="invalid_expression") from error
    if len(facts) > MOST_CHECKS:
        raise Invalid(
            f"it has {len(facts)} different checks, at most {MOST_CHECKS} are read", code="invalid_expression"
        )
    if "not" not in tree:
        ((conj, parts),) = tree.items() if "fact" not in tree else (("and", [tree]),)
        if all("fact" in part for part in parts):
            return CompiledExpression(calls=tuple(as_call(facts[part["fact"]]) for part in parts), conj=conj)
    call = MetricCall(func=EXPRESSION, result={"type": FACTS, "facts": facts}, options={"tree": tree})
    return CompiledExpression(calls=(call,))


def compile_function(source: str, values: Values) -> CompiledExpression:
    """A Python evaluation function with these parameters; its checks are known only when it runs.

    Raises:
        Invalid: it is not Python, or lacks the function.
    """
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Invalid(f"not Python: {error}", code="invalid_expression") from error
    if not any(isinstance(part, ast.FunctionDef) and part.name == FUNCTION for part in module.body):
        raise Invalid(f"it defines no {FUNCTION}()", code="invalid_expression")
    options = {"source": source, "values": dict(values)}
    return CompiledExpression(calls=(MetricCall(func=FUNCTION, result={"type": FACTS, "facts": []}, options=options),))


def as_call(fact: Mapping[str, JSON]) -> MetricCall:
    """The metric call of one check: metric and getter have the check's name, the getter its parameters."""
    return MetricCall(func=str(fact["type"]), result=dict(fact))


def fact_of(name: str, arguments: tuple[JSON, ...], named: Mapping[str, JSON]) -> dict[str, JSON]:
    """One check as JSON: `{"type": name, parameter: value}`.

    Raises:
        Invalid: the check is unknown, or its arguments are wrong.
    """
    if name not in CALLS:
        raise Invalid(f"there is no check {name!r}", code="invalid_expression", hint=f"Known: {', '.join(CALLS)}.")
    parameters = CALLS[name]
    fields = dict(zip(parameters, arguments, strict=False)) | dict(named)
    if len(arguments) + len(named) != len(parameters) or set(fields) != set(parameters):
        raise Invalid(f"{name} takes {', '.join(parameters)}", code="invalid_expression")
    for value in fields.values():
        if not isinstance(value, str | int | float) or (isinstance(value, str) and len(value) > _MOST_LONG):
            raise Invalid(
                f"{name} takes texts of at most {_MOST_LONG} characters, numbers, True and False",
                code="invalid_expression",
            )
        if isinstance(value, float) and not math.isfinite(value):
            raise Invalid(f"{name}: a number that is too large", code="invalid_expression")
        if isinstance(value, str) and any(char == "\0" or "\ud800" <= char <= "\udfff" for char in value):
            raise Invalid(f"{name}: a text with a NUL or half a character", code="invalid_expression")
    return {"type": name, **fields}


def _parse(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Invalid(f"expected an expression of checks: {error}", code="invalid_expression") from error


def _read(part: ast.expr, values: Values, facts: list[Mapping[str, JSON]], deep: int) -> dict[str, Any]:
    if deep > _MOST_DEEP:
        raise Invalid(f"it is nested more than {_MOST_DEEP} deep", code="invalid_expression")
    if isinstance(part, ast.BoolOp):
        word = "and" if isinstance(part.op, ast.And) else "or"
        return {word: [_read(value, values, facts, deep + 1) for value in part.values]}
    if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not):
        return {"not": _read(part.operand, values, facts, deep + 1)}
    if isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
        named = {keyword.arg: _value(keyword.value, values) for keyword in part.keywords if keyword.arg is not None}
        if len(named) < len(part.keywords):
            raise Invalid("** is not understood", code="invalid_expression")
        fact = fact_of(part.func.id, tuple(_value(arg, values) for arg in part.args), named)
        if fact not in facts:
            facts.append(fact)
        return {"fact": facts.index(fact)}
    raise Invalid(
        f"only checks, and, or, not and brackets are understood, not {ast.unparse(part)[:100]!r}",
        code="invalid_expression",
    )


def _value(part: ast.expr, values: Values) -> JSON:
    if isinstance(part, ast.Constant) and isinstance(part.value, str | int | float):
        return fill_values(part.value, values)
    if isinstance(part, ast.Name):
        if part.id in values:
            return values[part.id]
        raise Invalid(
            f"there is no parameter {part.id!r}",
            code="invalid_expression",
            hint=f"Known: {', '.join(sorted(values)) or 'none'}.",
        )
    raise Invalid(
        f"expected a text, a number or a parameter, got {ast.unparse(part)[:100]!r}", code="invalid_expression"
    )
