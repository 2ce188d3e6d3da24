"""Shared implementation of both suites' `is_expected_bookmarks`: the bookmarks bar."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._browser_pages import kind_of
from backend.domain.evaluators.metrics._rules import HINT, rule, texts
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue

LIKED = "Liked Authors"
Enough = Callable[[set[str], set[str]], bool]
"""(expected, actual) -> whether the actual bookmarks are acceptable."""


def bookmarks(result: Any, rules: Any, enough: Enough) -> MetricValue:
    """Judges the bookmarks bar.

    Args:
        result: the roots of the file `Bookmarks`; empty or None = no file.
        rules: `type` and its parameter: `bookmark_bar_folders_names` (`names`), `bookmark_bar_websites_urls` (`urls`)
            or `liked_authors_websites_urls` (`urls`; each is an address or a list of alternatives).
        enough: whether the bar's content is acceptable; the folder of liked authors must always match exactly.
    """
    kind = kind_of(rules, "bookmark_bar_folders_names", "bookmark_bar_websites_urls", "liked_authors_websites_urls")
    if kind == "liked_authors_websites_urls":
        choices = _choices(rule(rules, "urls"))
        return _match_any(_children(_bar(result)), choices)
    folders = kind == "bookmark_bar_folders_names"
    expected = set(texts(rule(rules, "names" if folders else "urls"), "`names`" if folders else "`urls`"))
    children = _children(_bar(result))
    if not children:
        return verdict(met=False, reason="the bookmarks bar is empty")
    actual = _values(children, "folder", "name") if folders else _values(children, "url", "url")
    text = f"the bar has {short(sorted(actual), 400)}, expected {short(sorted(expected), 400)}"
    return verdict(enough(expected, actual), text)


def _match_any(children: Sequence[Mapping[str, Any]], choices: Sequence[Sequence[str]]) -> MetricValue:
    folder = next((child for child in children if child.get("type") == "folder" and child.get("name") == LIKED), None)
    if folder is None:
        return verdict(met=False, reason=f"the bar has no folder {LIKED!r}")
    urls = _values(_children(folder), "url", "url")
    missing = [choice for choice in choices if not urls & set(choice)]
    known = {url for choice in choices for url in choice}
    text = f"the folder has {short(sorted(urls), 600)}"
    if missing or urls - known:
        return verdict(met=False, reason=f"{text}; missing {short(missing, 300)}, unexpected {short(urls - known)}")
    return verdict(_can_pick_one_each(urls, choices), f"{text}; expected one address per author")


def _can_pick_one_each(urls: set[str], choices: Sequence[Sequence[str]]) -> bool:
    """Whether one pick per list of alternatives can give exactly the actual addresses."""
    picks: set[frozenset[str]] = {frozenset()}
    for choice in choices:
        picks = {pick | {url} for pick in picks for url in choice if url in urls}
    return frozenset(urls) in picks


def _choices(urls: Any) -> list[list[str]]:
    if not isinstance(urls, list | tuple) or not urls:
        raise EvaluatorFailed(f"`urls` is {short(urls)}, expected a list", code="invalid_rule", hint=HINT)
    return [[url] if isinstance(url, str) else texts(url, "`urls`") for url in urls]


def _bar(result: Any) -> Any:
    return result.get("bookmark_bar") if isinstance(result, Mapping) else None


def _children(folder: Any) -> list[Mapping[str, Any]]:
    children = folder.get("children") if isinstance(folder, Mapping) else None
    return [child for child in children if isinstance(child, Mapping)] if isinstance(children, list) else []


def _values(children: Sequence[Mapping[str, Any]], kind: str, key: str) -> set[str]:
    return {str(child.get(key, "")) for child in children if child.get("type") == kind}
