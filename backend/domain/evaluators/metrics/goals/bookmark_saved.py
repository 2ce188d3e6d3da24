"""`bookmark_saved` (ours): Chromium has a bookmark."""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from backend.domain.evaluators.metrics._verdicts import share_of_goals, short, verdict
from backend.domain.formats.text import read_text
from backend.domain.formats.url_match import normal
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_FACTS = ("name", "folder")


@register(PluginKind.METRIC, "bookmark_saved")
def bookmark_saved(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """1 if a bookmark leads to `url` and, if given, is named `name` and is in the folder `folder`.

    Args:
        result: path of the profile's `Bookmarks` file.
        rules: `url`, `name`, `folder`; `partial`. `url` is an address, an address without its scheme (`good.org/a`), or
            the end of a path (`/a.html`): whole names of folders, on any host.
    """
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=f"no bookmarks: {reason}")
    try:
        bookmarks = list(_bookmarks(json.loads(text).get("roots"), ""))
    except (ValueError, AttributeError, RecursionError):
        return verdict(met=False, reason="the bookmarks file is damaged")
    matches = [(name, folder) for url, name, folder in bookmarks if _leads_to(url, str(rules["url"]))]
    rated = [
        [actual == rules[key] for key, actual in zip(_FACTS, bookmark, strict=True) if key in rules]
        for bookmark in matches
    ]
    best = max(rated, key=sum, default=[False for key in _FACTS if key in rules])
    goals = [(bool(matches), f"a bookmark of {rules['url']} among {len(bookmarks)}")]
    facts = [key for key in _FACTS if key in rules]
    goals += [(met, f"{key} {rules[key]!r}: {short(matches)}") for key, met in zip(facts, best, strict=True)]
    return share_of_goals(goals, partial=bool(rules.get("partial")))


def _leads_to(url: str, expected: str) -> bool:
    if expected.startswith("/"):
        return _path(url).endswith(unquote(expected))
    actual, goal = normal(url), normal(expected)
    return actual == goal if "://" in expected else actual.partition("://")[2] == goal.partition("://")[2]


def _path(url: str) -> str:
    try:
        return unquote(urlsplit(url).path)
    except ValueError:
        return ""


def _bookmarks(node: Any, folder: str) -> Iterator[tuple[str, str, str]]:
    if not isinstance(node, dict):
        return
    if node.get("type") == "url":
        yield str(node.get("url", "")), str(node.get("name", "")), folder
    below = node.get("children")
    inside = str(node.get("name", folder)) if isinstance(below, list) else folder
    for child in below if isinstance(below, list) else node.values():
        yield from _bookmarks(child, inside)
