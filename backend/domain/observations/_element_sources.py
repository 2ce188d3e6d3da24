"""Sources of elements for set-of-marks: the accessibility tree, the browser's pages, OCR, a detector."""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from backend.domain.errors import ModelApiFailed
from backend.domain.model.run import ScreenSize
from backend.domain.observations._marks import MOST_PER_SOURCE, Element
from backend.domain.screen.tree import nodes

_TEXTS = ("label", "heading", "paragraph", "static", "text", "section")
_PICTURES = ("image", "icon")
_INPUTS = frozenset({"entry", "password-text", "textbox", "textarea", "searchbox"})
_MOST_TEXT = 1000
_KINDS = frozenset({"text", "icon", "image", "control"})


def from_tree(xml: str, platform: str = "") -> list[Element]:
    """Elements of the tree that pass the filter of protocols §4. Raises Invalid."""
    return [
        Element(
            _kind(node.tag),
            (node.text or node.name)[:_MOST_TEXT],
            node.x,
            node.y,
            node.width,
            node.height,
            "tree",
            node.tag,
            node.name,
        )
        for node in nodes(xml, platform)
    ]


@lru_cache(maxsize=1024)
def _kind(tag: str) -> str:
    if tag.endswith(_PICTURES):
        return "icon" if tag.endswith("icon") else "image"
    return "text" if tag.endswith(_TEXTS) and tag not in _INPUTS else "control"


def from_ocr(read: Sequence[Mapping[str, Any]]) -> list[Element]:
    """Lines of text from `PerceptionTools.read`."""
    return [
        Element("text", str(word["text"])[:_MOST_TEXT], left, top, right - left, bottom - top, "ocr")
        for word in read
        for left, top, right, bottom in (word["bbox"],)
        if right > left and bottom > top
    ]


def from_detector(boxes: Sequence[Mapping[str, Any]], screen: ScreenSize) -> list[Element]:
    """Elements from `PerceptionTools.detect`.

    Raises:
        ModelApiFailed: it is not a list of boxes.
    """
    try:
        elements = [_detected_element(box, screen) for box in boxes[:MOST_PER_SOURCE]]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ModelApiFailed(
            f"the element detector's answer is not a list of boxes: {error!r}"[:300], code="detector_failed"
        ) from error
    return [element for element in elements if element.width > 0 and element.height > 0]


def _share(part: Any) -> float:
    value = float(part)
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a fraction of the screen")
    return min(1.0, max(0.0, value))


def _detected_element(box: Mapping[str, Any], screen: ScreenSize) -> Element:
    x1, y1, x2, y2 = (_share(part) for part in box["bbox"])
    left, top = round(x1 * screen.width), round(y1 * screen.height)
    right, bottom = round(x2 * screen.width), round(y2 * screen.height)
    kind = box.get("type")
    text = " ".join(str(box.get("content") or "").split())[:_MOST_TEXT]
    return Element(kind if kind in _KINDS else "icon", text, left, top, right - left, bottom - top, "detector")
