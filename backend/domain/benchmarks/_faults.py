"""Mistakes in published task files that upstream tolerates, reported as warnings."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from backend.domain.benchmarks._files import short
from backend.domain.model.task import JSON, SetupStep, Task

Fault = tuple[str, str]
"""Place and description of a mistake."""

_TEMPLATES = {
    "osworld": frozenset(
        {"CLIENT_PASSWORD", "SCREEN_WIDTH", "SCREEN_HEIGHT", "SCREEN_WIDTH_HALF", "SCREEN_HEIGHT_HALF"}
    )
}
_TEMPLATE = re.compile(r"(?<![$\w{\\])\{([A-Z][A-Z0-9_]{2,40})\}(?!\})")
_OPTIONS = {
    ("compare_references", "content_only"): "upstream ignores it: it always compares the text of the references",
    ("compare_pptx_files", "examine_shape_lenient_height"): "upstream has no such option and ignores it",
}
_RULES = {
    ("check_direct_json_object", "ignore_list_order"): "upstream reads it only beside `expect_in_result`",
}
_TABLE_RULES = {
    ("sheet_data", "ignore_case"): "upstream ignores it: letters of the cells are compared as they are",
    ("sheet_print", "ignore_case"): "upstream reads it for the lines of the CSV file only",
}


def faults(task: Task) -> Iterator[Fault]:
    """Upstream's mistakes in one task, from the file as read."""
    yield from _comments(task.raw.get("evaluator"), "evaluator")
    yield from _comments(task.raw.get("config"), "config")
    yield from _options(task)
    for criterion, message in task.labels.extra.get("unreviewed_criteria", {}).items():
        yield (
            criterion,
            f"the English instruction does not have {short(message)}: there is no reviewed English criterion",
        )
    for path, steps in (("config", task.setup), ("evaluator.postconfig", task.evaluator.postconfig)):
        for number, step in enumerate(steps):
            for name in _unknown_templates(step, task.dialect):
                message = f"{{{name}}} reads like a template, but there is none of that name: it is used as written"
                yield f"{path}.{number}", message


def _comments(value: JSON, path: str) -> Iterator[Fault]:
    """Keys that are remarks (`_note`) or misspelled (`type:`) inside machine-readable parts."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            if key.startswith("_"):
                yield f"{path}.{key[:100]}", f"a remark where a machine reads, left out: {short(part)}"
            elif key.endswith(":"):
                yield f"{path}.{key[:100]}", f"a slip for {key[:-1][:100]!r}, and read as such; upstream ignores it"
            else:
                yield from _comments(part, f"{path}.{key[:100]}")
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _comments(part, f"{path}.{number}")


def _options(task: Task) -> Iterator[Fault]:
    """Options and rules that upstream ignores."""
    for number, call in enumerate(task.evaluator.all_calls):
        for name in call.options:
            if (call.func, name) in _OPTIONS:
                yield f"evaluator.options.{number}.{name}", _OPTIONS[call.func, name]
        expected = (call.expected or {}).get("rules")
        for name in expected if isinstance(expected, Mapping) and "expected" in expected else ():
            if (call.func, name) in _RULES:
                yield f"evaluator.expected.{number}.rules.{name}", _RULES[call.func, name]
        rules = call.options.get("rules") if call.func == "compare_table" else None
        for position, rule in enumerate(rules if isinstance(rules, list) else ()):
            yield from _table(rule, f"evaluator.options.{number}.rules.{position}")


def _table(rule: Any, path: str) -> Iterator[Fault]:
    if isinstance(rule, Mapping):
        for name in rule:
            words = _TABLE_RULES.get((str(rule.get("type")), name))
            if words:
                yield f"{path}.{name}", words


def _unknown_templates(step: SetupStep, dialect: str) -> list[str]:
    """Names in braces in a command that look like a template of the dialect but are not one."""
    if dialect not in _TEMPLATES:
        return []
    command = step.parameters.get("command")
    words = [command] if isinstance(command, str) else command if isinstance(command, list | tuple) else []
    names = [name for word in words if isinstance(word, str) for name in _TEMPLATE.findall(word[:100_000])]
    return [name for name in dict.fromkeys(names) if name not in _TEMPLATES[dialect]]
