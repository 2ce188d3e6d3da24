"""`bookmark_saved` (ours): Chromium has a bookmark."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from backend.domain.evaluators.metrics._verdicts import reached, short, verdict
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "bookmark_saved")
def bookmark_saved(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """1 if a bookmark ends with `url` and, where given, is called `name` and lies in a folder called `folder`.

    Args:
        result: path of the profile's `Bookmarks` file.
        rules: `url`, `name`, `folder`.
    """
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=f"there are no bookmarks: {reason}")
    try:
        bookmarks = list(_bookmarks(json.loads(text).get("roots"), ""))
    except (ValueError, AttributeError, RecursionError):
        return verdict(met=False, reason="the file of bookmarks is damaged")
    ours = [(name, folder) for url, name, folder in bookmarks if url.endswith(rules["url"])]
    goals = [(bool(ours), f"a bookmark of {rules['url']} among {len(bookmarks)}")]
    if "name" in rules:
        goals.append((any(name == rules["name"] for name, _ in ours), f"called {rules['name']!r}: {short(ours)}"))
    if "folder" in rules:
        goals.append(
            (any(folder == rules["folder"] for _, folder in ours), f"in folder {rules['folder']!r}: {short(ours)}")
        )
    return reached(goals, partial=bool(rules.get("partial")))


def _bookmarks(node: Any, folder: str) -> Iterator[tuple[str, str, str]]:
    if not isinstance(node, dict):
        return
    if node.get("type") == "url":
        yield str(node.get("url", "")), str(node.get("name", "")), folder
    below = node.get("children")
    inside = str(node.get("name", folder)) if isinstance(below, list) else folder
    for child in below if isinstance(below, list) else node.values():
        yield from _bookmarks(child, inside)
