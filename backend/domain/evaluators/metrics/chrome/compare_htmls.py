"""`compare_htmls`: two HTML files have the same elements, attributes and texts."""

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_LISTS = frozenset({"class", "rel", "rev", "accept-charset", "headers", "accesskey", "dropzone", "sizes", "sandbox"})
"""Attributes with a list of words as value, in any spacing."""
Element = tuple[str, Mapping[str, str], str, str]
"""Name, attributes, leading text, tail text."""


@register(PluginKind.METRIC, "compare_htmls")
def compare_htmls(
    html_path1: str | None,
    html_path2: str | None,
    *,
    ignore_sdnum: bool | None = None,
    strict_upstream: bool = False,
) -> MetricValue:
    """1 if the documents have the same elements and texts in the same order.

    Args:
        html_path1: the file to judge.
        html_path2: the file to compare with.
        ignore_sdnum: ignore LibreOffice's attribute `sdnum` (a number's format).
        strict_upstream: as upstream: only as many pieces are compared as the shorter document has.
    """
    expected, reason = _parse(html_path2)
    if reason:
        raise EvaluatorFailed(f"expected file: {reason}", code="invalid_reference")
    actual, reason = _parse(html_path1)
    if reason:
        return verdict(met=False, reason=reason)
    passed = "sdnum" if ignore_sdnum else ""
    if strict_upstream:
        for number, (result, gold) in enumerate(
            zip(_pieces(actual, passed), _pieces(expected, passed), strict=False), 1
        ):
            if result != gold:
                return _differs(number, result, gold)
        return verdict(met=True, reason="equal up to the length of the shorter document")
    number = 0
    for number, (result, gold) in enumerate(zip_longest(_elements(actual, passed), _elements(expected, passed)), 1):
        if result != gold:
            return _differs(number, result, gold)
    return verdict(met=True, reason=f"all {number} elements are the same")


def _differs(number: int, result: object, gold: object) -> MetricValue:
    return verdict(met=False, reason=f"element {number} is {short(result, 200)}, expected {short(gold, 200)}")


def _parse(path: str | None) -> tuple[Any, str]:
    """(root, "") with None for an empty document, or (None, reason) for an unreadable one."""
    from lxml import etree

    text, reason = read_text(path)
    if text is None:
        return None, reason
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, recover=True)
    try:
        return (etree.fromstring(text.encode(), parser) if text.strip() else None), ""
    except (etree.XMLSyntaxError, ValueError) as error:
        return None, f"the file is not HTML: {type(error).__name__}"


def _elements(root: Any, passed: str) -> Iterator[Element]:
    for element in root.iter() if root is not None else ():
        tag = element.tag if isinstance(element.tag, str) else "comment"
        yield tag, _attributes(element, passed), element.text or "", element.tail or ""


def _pieces(root: Any, passed: str) -> Iterator[Element]:
    """Elements and texts in upstream's order."""
    from lxml import etree

    for event, element in etree.iterwalk(root, events=("start", "end", "comment", "pi")) if root is not None else ():
        if event == "start":
            yield str(element.tag), _attributes(element, passed), "", ""
        elif event != "end":
            yield "comment", {}, element.text or "", ""
        text = element.text if event == "start" else element.tail
        if text:
            yield "text", {}, text, ""


def _attributes(element: Any, passed: str) -> dict[str, str]:
    return {
        key: " ".join(value.split()) if key in _LISTS else value
        for key, value in element.attrib.items()
        if key != passed
    }
