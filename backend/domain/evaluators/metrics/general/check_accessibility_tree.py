"""`check_accessibility_tree`: elements of the accessibility tree that match selectors."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.errors import EvaluatorFailed, Invalid
from backend.domain.evaluators.metrics._rules import HINT, mappings, texts
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.accessibility import namespaces, searchable
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

SYSTEMS = ("ubuntu", "windows", "macos")
MAX_TEXT = 100_000


@register(PluginKind.METRIC, "check_accessibility_tree")
def check_accessibility_tree(
    result: str, rules: Sequence[Mapping[str, Any]], *, osname: str = "ubuntu", strict_upstream: bool = False
) -> MetricValue:
    """The product over the rules: 0 if nothing matches, else 1 or the similarity of the text.

    Args:
        result: the accessibility tree as XML.
        rules: each with `xpath` or `selectors` (CSS, any of them) and optionally `text`, compared with that of the best
            matching element: `exact` (the default) or by similarity (rapidfuzz's `ratio` / 100). Prefixes: `st`,
            `attr`, `cp`, `doc`, `docattr`, `txt`, `val`, `act`, `class`, `role`.
        osname: system whose namespaces are used; needed for `strict_upstream` only.
        strict_upstream: as published, only namespaces of `osname` are accepted.
    """
    if osname not in SYSTEMS:
        raise EvaluatorFailed(
            f"option `osname` is {short(osname)}, expected one of {', '.join(SYSTEMS)}", code="invalid_rule"
        )
    if not mappings(rules, "the rules"):
        raise EvaluatorFailed("the rules are empty", code="invalid_rule", hint=HINT)
    try:
        tree = searchable(result, as_written=strict_upstream)
    except Invalid as error:
        raise EvaluatorFailed(error.message, code="invalid_rule") from error
    names = namespaces(osname if strict_upstream else "ubuntu")
    value, reasons = 1.0, []
    for rule in rules:
        elements = _select(tree, rule, names)
        score = _score(elements, rule)
        value *= score
        reasons.append(f"{len(elements)} elements for {short(rule.get('xpath') or rule.get('selectors'))}: {score:g}")
        if value == 0.0:
            break
    return verdict(met=False, reason=reasons[-1]) if value == 0.0 else MetricValue(value=value, reasons=tuple(reasons))


def _select(tree: Any, rule: Mapping[str, Any], names: dict[str, str]) -> list[Any]:
    from cssselect import SelectorError
    from lxml import etree
    from lxml.cssselect import CSSSelector

    try:
        if "xpath" in rule:
            elements = tree.xpath(rule["xpath"], namespaces=names)
        elif "selectors" in rule:
            elements = CSSSelector(", ".join(texts(rule["selectors"], "`selectors`")), namespaces=names)(tree)
        else:
            raise EvaluatorFailed("a rule has neither `xpath` nor `selectors`", code="invalid_rule", hint=HINT)
    except (etree.XPathError, SelectorError, TypeError, ValueError) as error:
        raise EvaluatorFailed(f"a selector cannot be used: {error}", code="invalid_rule", hint=HINT) from error
    if not isinstance(elements, list):
        raise EvaluatorFailed(
            f"{short(rule['xpath'])} selects no elements, but gives {short(elements)}", code="invalid_rule", hint=HINT
        )
    return elements


def _score(elements: list[Any], rule: Mapping[str, Any]) -> float:
    from rapidfuzz import fuzz

    if "text" not in rule:
        return float(bool(elements))
    contents = [getattr(element, "text", None) or "" for element in elements]
    contents = [content[:MAX_TEXT] for content in contents if content]
    if rule.get("exact", True):
        return float(rule["text"] in contents)
    return max((fuzz.ratio(rule["text"], content) / 100 for content in contents), default=0.0)
