"""Checks a JUnit document as the schema junit-10.xsd does.

Jenkins' xUnit plugin publishes that schema, and pytest tests its `xunit2` family by it. The copy in pytest has a slip:
it calls the element `errors` that pytest itself writes as `error`, as Jenkins' has it.
"""

import re

from defusedxml.ElementTree import fromstring

CASE = {"name", "time", "classname", "group"}
SUITE = {
    "name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp", "hostname", "id", "package", "file",
    "log", "url",
}  # fmt: skip
MESSAGE = {"type", "message"}
ATTRIBUTES: dict[str, tuple[set[str], set[str]]] = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}),
    "testsuite": ({"name", "tests", "failures", "errors"}, SUITE),
    "properties": (set(), set()),
    "property": ({"name", "value"}, {"name", "value"}),
    "testcase": ({"name"}, CASE),
    "failure": (set(), MESSAGE),
    "error": (set(), MESSAGE),
    "skipped": (set(), MESSAGE),
    "system-out": (set(), set()),
    "system-err": (set(), set()),
}
"""Attributes that an element needs, and those that it may have."""
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"testsuite", "properties", "testcase", "system-out", "system-err"},
    "properties": {"property"},
    "testcase": {"skipped", "error", "failure", "system-out", "system-err"},
}
TIME = re.compile(r"[0-9,]*(\.[0-9]{0,3})?")


def faults(document: bytes) -> list[str]:
    """Violations of the schema."""
    root = fromstring(document)
    problems = [] if root.tag == "testsuites" else [f"the root is {root.tag}"]
    for element in root.iter():
        needed, allowed = ATTRIBUTES.get(element.tag, (set(), set()))
        problems += [f"{element.tag} lacks {name}" for name in needed - set(element.keys())]
        problems += [f"{element.tag} has {name}" for name in set(element.keys()) - allowed]
        problems += [
            f"{child.tag} in {element.tag}" for child in element if child.tag not in CHILDREN.get(element.tag, ())
        ]
        problems += [f"time {time}" for time in [element.get("time", "0")] if not TIME.fullmatch(time)]
    return problems
