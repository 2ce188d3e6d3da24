"""Forms for drafts: rows of texts from a draft's content, and the content from submitted texts."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from backend.domain import registry
from backend.domain.drafts.content import DraftContent
from backend.domain.drafts.fields import FormField, can_say, fields_of, typed_as, values_of
from backend.domain.drafts.forms import PluginForm, form_of
from backend.domain.errors import Invalid, UnknownPlugin
from backend.domain.registry import PluginKind
from backend.domain.solutions.steps import OracleStep, read_solution

Typed = Mapping[str, str]
T = TypeVar("T")
VERBS = tuple(name for name in OracleStep.model_fields if name not in {"patience", "note"})
_WORDS = frozenset({"type", "press", "wait_window", "wait_window_gone", "fail"})
"""Steps whose value is text; others are JSON."""
MOST_ROWS = 500


@dataclass(frozen=True)
class Plugin:
    """One plug-in with its parameters as texts.

    Attributes:
        prefix: of its fields' names in the form.
        about: description, or that there is no such plug-in.
        unknown: whether there is none of that name.
    """

    name: str
    prefix: str
    about: str
    unknown: bool
    fields: Sequence[tuple[FormField, str]]


@dataclass(frozen=True)
class CheckRow:
    """One metric call: the metric with its options, and up to two getters."""

    number: int
    metric: Plugin
    result: Plugin | None
    expected: Plugin | None
    expects: bool | None


@dataclass(frozen=True)
class SolutionRow:
    """One step of a solution. `value`: a text, or JSON."""

    number: int
    verb: str
    value: str
    note: str
    patience: str


def step_rows(content: DraftContent) -> list[Plugin]:
    """The set-up as rows."""
    return [
        _plugin(PluginKind.SETUP, step.type, content.dialect, f"setup.{number}", step.parameters)
        for number, step in enumerate(content.setup)
    ]


def check_rows(content: DraftContent) -> list[CheckRow]:
    """The checks as rows."""
    rows = []
    for number, check in enumerate(content.checks):
        metric = _plugin(PluginKind.METRIC, check.func, content.dialect, f"check.{number}.options", check.options)
        sides = [
            None if spec is None else _getter(spec, content.dialect, f"check.{number}.{side}")
            for side, spec in (("result", check.result), ("expected", check.expected))
        ]
        rows.append(CheckRow(number, metric, sides[0], sides[1], _expects(check.func, content.dialect)))
    return rows


def solution_rows(content: DraftContent) -> list[SolutionRow]:
    """The solution as rows; one that is not a valid solution is shown only as JSON below the form."""
    try:
        steps = read_solution(content.oracle)
    except Invalid:
        return []
    rows = []
    for number, (step, entry) in enumerate(zip(steps, content.oracle, strict=True)):
        value = entry[step.verb]
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        patience = str(entry.get("patience", ""))
        rows.append(SolutionRow(number, step.verb, text, step.note, patience))
    return rows


def parse_steps(dialect: str, typed: Typed, *, whole: bool) -> list[dict[str, Any]]:
    """The submitted set-up. Raises Invalid with the field's name."""
    return [
        {
            "type": typed[f"setup.{number}.name"],
            "parameters": _parse_fields(PluginKind.SETUP, dialect, f"setup.{number}", typed, whole=whole),
        }
        for number in _numbers(typed, "setup.{}.name")
    ]


def parse_checks(dialect: str, typed: Typed, *, whole: bool) -> list[dict[str, Any]]:
    """The submitted checks. Raises Invalid with the field's name."""
    checks = []
    for number in _numbers(typed, "check.{}.options.name"):
        check: dict[str, Any] = {
            "func": typed[f"check.{number}.options.name"],
            "options": _parse_fields(PluginKind.METRIC, dialect, f"check.{number}.options", typed, whole=whole),
        }
        for side in ("result", "expected"):
            name = typed.get(f"check.{number}.{side}.name", "").strip()
            if name:
                parameters = _parse_fields(PluginKind.GETTER, dialect, f"check.{number}.{side}", typed, whole=whole)
                check[side] = {"type": name, **parameters}
        checks.append(check)
    return checks


def parse_solution(typed: Typed) -> list[dict[str, Any]]:
    """The submitted solution. Raises Invalid with the field's name."""
    steps: list[dict[str, Any]] = []
    for number in _numbers(typed, "oracle.{}.verb"):
        verb, text = typed[f"oracle.{number}.verb"], typed.get(f"oracle.{number}.value", "")
        if verb not in VERBS:
            raise Invalid(f"there is no step {verb[:50]!r}", code="unknown_verb", path=f"oracle.{number}.verb")
        step: dict[str, Any] = {verb: text if verb in _WORDS else _json(text, f"oracle.{number}.value")}
        for name, read in (("note", str), ("patience", int)):
            option = typed.get(f"oracle.{number}.{name}", "").strip()
            if option:
                step[name] = _read(read, option, f"oracle.{number}.{name}")
        steps.append(step)
    read_solution(steps)
    return steps


def move_row(rows: Sequence[T], action: str) -> list[T]:
    """Rows after a button: `remove.N`, `up.N` or `down.N`; others change nothing."""
    verb, _, position = action.partition(".")
    items = list(rows)
    if not position.isdecimal() or int(position) >= len(items):
        return items
    at = int(position)
    if verb == "remove":
        items.pop(at)
    elif verb in {"up", "down"}:
        to = max(0, min(len(items) - 1, at + (1 if verb == "down" else -1)))
        items.insert(to, items.pop(at))
    return items


def names(kind: PluginKind, dialect: str) -> list[str]:
    """Names that a draft of that dialect may use."""
    registry.load()
    return registry.names(kind, dialect)


def dialects() -> list[str]:
    """Dialects of drafts: those of any plug-in, and the plain one."""
    registry.load()
    kinds = (PluginKind.SETUP, PluginKind.GETTER, PluginKind.METRIC)
    return sorted(
        {"starter", *(dialect for kind in kinds for dialect, _ in registry.entries(kind))} - {registry.COMMON}
    )


def _numbers(typed: Typed, pattern: str) -> range:
    """0, 1, ... while there is a field with that number."""
    count = 0
    while count < MOST_ROWS and pattern.format(count) in typed:
        count += 1
    return range(count)


def _form(kind: PluginKind, name: str, dialect: str) -> PluginForm | None:
    registry.load()
    try:
        return form_of(kind, name, dialect)
    except UnknownPlugin:
        return None


def _expects(func: str, dialect: str) -> bool | None:
    form = _form(PluginKind.METRIC, func, dialect)
    return None if form is None else form.expects


def _getter(spec: Mapping[str, Any], dialect: str, prefix: str) -> Plugin:
    parameters = {key: value for key, value in spec.items() if key != "type"}
    return _plugin(PluginKind.GETTER, str(spec.get("type", "")), dialect, prefix, parameters)


def _plugin(kind: PluginKind, name: str, dialect: str, prefix: str, parameters: Mapping[str, Any]) -> Plugin:
    form = _form(kind, name, dialect)
    fields = fields_of(None if form is None else form.schema)
    if not can_say(fields, parameters):
        fields = fields_of(None)  # What the plug-in's own fields cannot say must not change with the next save.
    about = form.about if form is not None else "There is nothing of that name."
    return Plugin(name, prefix, about, form is None, [(field, typed_as(field, parameters)) for field in fields])


def _parse_fields(kind: PluginKind, dialect: str, prefix: str, typed: Typed, *, whole: bool) -> dict[str, Any]:
    form = _form(kind, typed[f"{prefix}.name"], dialect)
    fields = fields_of(None if form is None else form.schema)
    if f"{prefix}.p.json" in typed:
        fields = fields_of(None)
    texts = {field.name: typed.get(f"{prefix}.p.{field.name}", "") for field in fields}
    try:
        return values_of(fields, texts, whole=whole)
    except Invalid as error:
        field = f"{prefix}.p.{error.path}"
        raise Invalid(
            error.message.removeprefix(f"{error.path}: "), code="invalid_draft", path=field, hint=error.hint
        ) from error


def _json(text: str, path: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        hint = 'For example {"role": "push button", "name": "Save"} or ["ctrl", "s"].'
        raise Invalid(f"expected JSON, got {text[:60]!r}", code="invalid_draft", path=path, hint=hint) from error


def _read(read: Callable[[str], T], text: str, path: str) -> T:
    try:
        return read(text)
    except ValueError as error:
        raise Invalid(f"expected a number, got {text[:60]!r}", code="invalid_draft", path=path) from error
