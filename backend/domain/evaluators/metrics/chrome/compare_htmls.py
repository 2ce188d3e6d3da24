"""`compare_htmls`: two HTML files have the same elements, attributes and texts."""

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.formats.text import read_text
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.registry import Kind, register
from backend.domain.score import MetricValue

_LISTS = frozenset({"class", "rel", "rev", "accept-charset", "headers", "accesskey", "dropzone", "sizes", "sandbox"})
"""Attributes whose value is a list of words, however they are spaced."""
Piece = tuple[str, str, Mapping[str, str]]
"""(`element`, its name, its attributes), or (`text` or `comment`, what it says, nothing)."""


@register(Kind.METRIC, "compare_htmls")
def compare_htmls(
    html_path1: str | None,
    html_path2: str | None,
    *,
    ignore_sdnum: bool | None = None,
    strict_upstream: bool = False,
) -> MetricValue:
    """1 if the documents have the same pieces in the same order.

    Args:
        html_path1: the file to judge.
        html_path2: the file to compare with.
        ignore_sdnum: LibreOffice's attribute `sdnum` (a number's format) does not count.
        strict_upstream: as upstream: only as many pieces are compared as the shorter document has.
    """
    wanted, reason = _pieces(html_path2, ignore_sdnum=bool(ignore_sdnum))
    if wanted is None:
        raise EvaluatorFailed(f"the file to compare with: {reason}")
    found, reason = _pieces(html_path1, ignore_sdnum=bool(ignore_sdnum))
    if found is None:
        return verdict(met=False, reason=reason)
    if strict_upstream:
        shorter = min(len(found), len(wanted))
        found, wanted = found[:shorter], wanted[:shorter]
    for number, (mine, other) in enumerate(zip_longest(found, wanted), start=1):
        if mine != other:
            return verdict(met=False, reason=f"piece {number} is {short(mine, 200)}, expected {short(other, 200)}")
    return verdict(met=True, reason=f"all {len(found)} pieces are the same")


def _pieces(path: str | None, *, ignore_sdnum: bool) -> tuple[list[Piece] | None, str]:
    from lxml import etree

    text, reason = read_text(path)
    if text is None:
        return None, reason
    if not text.strip():
        return [], ""
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, recover=True)
    try:
        root = etree.fromstring(text.encode(), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        return None, f"the file is no HTML: {type(error).__name__}"
    found: list[Piece] = []
    for event, element in etree.iterwalk(root, events=("start", "end", "comment", "pi")) if root is not None else ():
        _note(found, event, element, ignore_sdnum=ignore_sdnum)
    return found, ""


def _note(found: list[Piece], event: str, element: Any, *, ignore_sdnum: bool) -> None:
    if event == "start":
        attributes = {key: " ".join(value.split()) if key in _LISTS else value for key, value in element.attrib.items()}
        if ignore_sdnum:
            attributes.pop("sdnum", None)
        found.append(("element", str(element.tag), attributes))
        text = element.text
    elif event == "end":
        text = element.tail
    else:
        found.append(("comment", element.text or "", {}))
        text = element.tail
    if text:
        found.append(("text", text, {}))
