"""Reads untrusted JSON and YAML."""

import json
from typing import Any

from backend.domain.formats.text import read_text

MAX_YAML = 4 * 2**20  # bytes; YAML is read at about a megabyte per second
MAX_NODES = 10**6  # YAML aliases can repeat large parts


def read_json(path: str | None) -> tuple[Any, str]:
    """The value of a JSON file, or the reason why there is none: (value, "") or (None, reason). `null` is a value."""
    text, reason = read_text(path)
    if text is None:
        return None, reason
    try:
        return json.loads(text), ""
    except (ValueError, RecursionError) as error:
        return None, f"the file is not JSON: {str(error)[:200]}"


def read_yaml(path: str | None, *, dates: bool = False) -> tuple[Any, str]:
    """Like `read_json`, for YAML of plain data; tags that create objects are rejected.

    Args:
        path: the file.
        dates: a date is a date of Python's; else it is its text, as in JSON, which has none.
    """
    import yaml

    text, reason = read_text(path)
    if text is None:
        return None, reason
    if len(text) > MAX_YAML:
        return None, f"the file is larger than {MAX_YAML // 2**20} MiB"
    safe = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    resolvers = {
        letter: [(tag, pattern) for tag, pattern in known if dates or not tag.endswith(":timestamp")]
        for letter, known in safe.yaml_implicit_resolvers.items()
    }
    loader = type("Loader", (safe,), {"yaml_implicit_resolvers": resolvers})
    try:
        value = yaml.load(text, Loader=loader)  # noqa: S506 - both are safe loaders.
        nodes = _nodes(value, {})
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        return None, f"the file is not YAML: {' '.join(str(error).split())[:200]}"
    return (value, "") if nodes <= MAX_NODES else (None, "the file's aliases unpack to too many values")


def _nodes(value: Any, known: dict[int, int]) -> int:
    """Number of values with aliases expanded; more than MAX_NODES for a recursive value."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        known[id(value)] = MAX_NODES + 1  # until its children are counted
        parts = [*value.keys(), *value.values()] if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_nodes(part, known) for part in parts)
    return known[id(value)]
