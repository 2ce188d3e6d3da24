"""`check_html_background_image`: a page has a picture as its background."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_BACKGROUND = re.compile(
    r"background(?:-image)?\s*:[^;{}]*?url\(\s*(?:'([^']*)'|\"([^\"]*)\"|([^'\")\s]*))\s*\)", re.IGNORECASE
)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


@register(PluginKind.METRIC, "check_html_background_image")
def check_html_background_image(
    result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False
) -> MetricValue:
    """1 if a style of the page sets the picture as background.

    Args:
        result: path of the page.
        rules: `value`: the picture's address in the page.
        strict_upstream: it must be written as `background-image: url('...')`, in a `style` element.
    """
    from lxml import etree

    expected = rules.get("value")
    if not isinstance(expected, str) or not expected:
        raise EvaluatorFailed("`rules.value` is missing", code="invalid_rule")
    text, reason = read_text(result)
    if text is None or not text.strip():
        return verdict(met=False, reason=reason or "the file is empty")
    page = etree.fromstring(text.encode(), etree.HTMLParser(encoding="utf-8", no_network=True))
    styles = [] if page is None else [str(style.text or "") for style in page.iter("style")]
    if strict_upstream:
        met = any(f"background-image: url('{expected}')" in style for style in styles)
        return verdict(met, f"{len(styles)} styles, expected one with {short(expected)} as the background")
    styles += [] if page is None else [str(element.get("style")) for element in page.iter("*") if element.get("style")]
    backgrounds = [
        next(filter(None, groups), "") for style in styles for groups in _BACKGROUND.findall(_COMMENT.sub(" ", style))
    ]
    return verdict(
        _plain(expected) in map(_plain, backgrounds),
        f"backgrounds are {short(backgrounds)}, expected {short(expected)}",
    )


def _plain(address: str) -> str:
    """An address of the page's folder in one form: `./my%20cat.png` is `my cat.png`."""
    return unquote(address.removeprefix("./"))
