"""Reads untrusted JSON and YAML."""

import json
import re
from typing import Any

from backend.domain.formats.text import read_text

_NUMBERS = [
    ("tag:yaml.org,2002:int", re.compile(r"[-+]?(?:0|[1-9][0-9]*|0o?[0-7]+|0x[0-9A-Fa-f]+)$")),
    (
        "tag:yaml.org,2002:float",
        re.compile(r"[-+]?(?:(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?|\.(?i:inf))$|\.(?i:nan)$"),
    ),
]
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


def read_yaml(path: str | None, *, published: bool = False) -> tuple[Any, str]:
    """Like `read_json`, for YAML of plain data; tags that create objects are rejected.

    Numbers are those of YAML 1.2, which today's programs read, and the octal ones of 1.1; times (`12:30`) and `1_000`
    are texts. Words such as `yes` are truth values, as in 1.1.

    Args:
        path: the file.
        published: as upstream: YAML 1.1, and a date is a date of Python's; else it is its text, as in JSON.
    """
    import yaml

    text, reason = read_text(path)
    if text is None:
        return None, reason
    if len(text) > MAX_YAML:
        return None, f"the file is larger than {MAX_YAML // 2**20} MiB"
    safe = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    resolvers = safe.yaml_implicit_resolvers if published else _resolvers(safe.yaml_implicit_resolvers)
    loader = type("Loader", (safe,), {"yaml_implicit_resolvers": resolvers})
    try:
        value = yaml.load(text, Loader=loader)  # noqa: S506 - both are safe loaders.
        nodes = _nodes(value, {})
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        return None, f"the file is not YAML: {' '.join(str(error).split())[:200]}"
    return (value, "") if nodes <= MAX_NODES else (None, "the file's aliases unpack to too many values")


def _resolvers(known: dict[Any, Any]) -> dict[Any, Any]:
    """Implicit types by a value's first letter, without dates and with the numbers of YAML 1.2."""
    resolvers = {
        letter: [
            (tag, pattern) for tag, pattern in pairs if tag.rpartition(":")[2] not in {"timestamp", "int", "float"}
        ]
        for letter, pairs in known.items()
    }
    for letter in "-+.0123456789":
        resolvers[letter] = [*resolvers.get(letter, []), *_NUMBERS]
    return resolvers


def _nodes(value: Any, known: dict[int, int]) -> int:
    """Number of values with aliases expanded; more than MAX_NODES for a recursive value."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        known[id(value)] = MAX_NODES + 1  # until its children are counted
        parts = [*value.keys(), *value.values()] if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_nodes(part, known) for part in parts)
    return known[id(value)]
