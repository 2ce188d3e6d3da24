"""Label and field selectors: text of a query to a test of an object."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.fakes.kubernetes.kinds import EVENTS, NEW_EVENTS, NODES, PODS, SECRETS, Json, Resource
from tests.fakes.kubernetes.status import bad_request

Test = Callable[[Json], bool]
_SET = re.compile(r"^(?P<key>[^\s!=,()]+)\s+(?P<word>in|notin)\s+\((?P<values>[^)]*)\)$")
_EQUAL = re.compile(r"^(?P<key>[^\s!=,()]+)\s*(?P<word>==|=|!=)\s*(?P<value>[^\s,()]*)$")
_PRESENT = re.compile(r"^(?P<not>!?)\s*(?P<key>[^\s!=,()]+)$")
_ALWAYS = ("metadata.name", "metadata.namespace")
FIELDS: Mapping[Resource, tuple[str, ...]] = {
    PODS: (
        "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
        "status.phase", "status.podIP", "status.nominatedNodeName",
    ),
    NODES: ("spec.unschedulable",),
    SECRETS: ("type",),
    EVENTS: (
        "involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid", "reason",
        "involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "source", "type",
        "reportingComponent",
    ),
    NEW_EVENTS: ("regarding.kind", "regarding.name", "regarding.uid", "reason", "type"),
}  # fmt: skip


def _parts(text: str) -> list[str]:
    """Requirements, split at commas outside of brackets."""
    return [part.strip() for part in re.split(r",(?![^(]*\))", text) if part.strip()]


def _labels(obj: Json) -> Mapping[str, str]:
    return obj.get("metadata", {}).get("labels") or {}


def _requirement(part: str) -> Callable[[Mapping[str, str]], bool]:
    if match := _SET.match(part):
        key, values = match["key"], {value.strip() for value in match["values"].split(",")}
        if match["word"] == "in":
            return lambda labels: labels.get(key) in values
        return lambda labels: labels.get(key) not in values
    if match := _EQUAL.match(part):
        key, value = match["key"], match["value"]
        if match["word"] == "!=":
            return lambda labels: labels.get(key) != value
        return lambda labels: labels.get(key) == value
    if match := _PRESENT.match(part):
        key, wanted = match["key"], not match["not"]
        return lambda labels: (key in labels) == wanted
    raise bad_request(f"unable to parse requirement: found '{part}', expected: a key, an operator and values")


def by_labels(text: str) -> Test | None:
    """The test that a label selector means; None for no selector."""
    requirements = [_requirement(part) for part in _parts(text)]
    if not requirements:
        return None
    return lambda obj: all(requirement(_labels(obj)) for requirement in requirements)


def value_at(obj: Json, path: str) -> str:
    """A field as selectors see it: text, empty where it is not set."""
    value: Any = obj
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return str(value.get("component", ""))
    return "" if value is None else str(value)


def _field(resource: Resource, part: str) -> Test:
    match = _EQUAL.match(part)
    if match is None:
        raise bad_request(f'invalid field selector: "{part}"; can\'t understand it')
    path, value, wanted = match["key"], match["value"], match["word"] != "!="
    if path not in (*_ALWAYS, *FIELDS.get(resource, ())):
        raise bad_request(f'field label not supported: "{path}"')
    blank = "false" if path in {"spec.unschedulable", "spec.hostNetwork"} else ""
    return lambda obj: ((value_at(obj, path) or blank) == value) == wanted


def by_fields(resource: Resource, text: str) -> Test | None:
    """The test that a field selector means; None for no selector."""
    tests = [_field(resource, part) for part in _parts(text)]
    return (lambda obj: all(test(obj) for test in tests)) if tests else None


def both(first: Test | None, second: Test | None) -> Test | None:
    """Both tests as one."""
    if first is None or second is None:
        return first or second
    return lambda obj: first(obj) and second(obj)


def fits(selector: Json | None, labels: Mapping[str, str]) -> bool:
    """Whether labels fit an object's selector (matchLabels, matchExpressions); an empty one fits all, none nothing."""
    if selector is None:
        return False
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(expression(item, labels) for item in selector.get("matchExpressions") or [])


def expression(item: Json, labels: Mapping[str, str]) -> bool:
    """Whether labels fit one expression of a label or node selector."""
    key, values = item["key"], item.get("values") or []
    number = labels.get(key, "")
    tests: dict[str, Callable[[], bool]] = {
        "In": lambda: labels.get(key) in values,
        "NotIn": lambda: labels.get(key) not in values,
        "Exists": lambda: key in labels,
        "DoesNotExist": lambda: key not in labels,
        "Gt": lambda: number.isdigit() and int(number) > int(values[0]),
        "Lt": lambda: number.isdigit() and int(number) < int(values[0]),
    }
    return tests[item["operator"]]()
