"""Set-of-marks: elements of several finders become one numbered list without overlaps (protocols §4)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from backend.domain.trajectory import Mark

if TYPE_CHECKING:
    from numpy.typing import NDArray

Overlap = Literal["inside", "iou", "none"]
MOST_PER_SOURCE = 2000
"""Elements of one finder that are looked at."""
_CONTAINERS = ("document", "canvas", "section", "paragraph", "scroll")


@dataclass(frozen=True, slots=True)
class Element:
    """Something on the screen that could be marked; its box in pixels of the screen."""

    kind: str
    text: str
    x: int
    y: int
    width: int
    height: int
    origin: str
    tag: str = ""
    name: str = ""


def on_screen(element: Element, across: int, down: int) -> Element | None:
    """The part of it that a screen of that size shows; None if that is nothing."""
    left, top = max(0, element.x), max(0, element.y)
    right = min(across, element.x + element.width)
    bottom = min(down, element.y + element.height)
    if right <= left or bottom <= top:
        return None
    return replace(element, x=left, y=top, width=right - left, height=bottom - top)


def merged(sources: Sequence[Sequence[Element]], overlap: Overlap, threshold: float) -> list[Element]:
    """All elements in the order of their sources, less those that one of a source before shows already.

    Of one source only what is nearly the same box twice is left out. An element of a later source is left out where it
    and one that is kept overlap: by `iou`, their intersection is more than `threshold` of their union; by `inside`,
    also where it is more than that share of the smaller one. A container (something that holds other elements of its
    source, or a document) leaves nothing out by lying around it.

    Args:
        sources: elements per source; those of the tree come first, whatever was asked for first.
        overlap: the rule; `none` keeps all.
        threshold: share, 0 to 1.
    """
    ordered = sorted(sources, key=lambda some: bool(some) and some[0].origin != "tree")
    limited = [list(some[:MOST_PER_SOURCE]) for some in ordered if some]
    if overlap == "none":
        return [each for some in limited for each in some]
    kept = _Kept(sum(map(len, limited)), threshold, inside=overlap == "inside")
    for some in limited:
        kept.add(some, leaves=_leaves(some) if len(limited) > 1 else None)
    return kept.elements


class _Kept:
    """What is kept so far, with its boxes in arrays."""

    def __init__(self, most: int, threshold: float, *, inside: bool) -> None:
        import numpy as np

        self.elements: list[Element] = []
        self._boxes = np.zeros((4, most), dtype=np.float64)  # left, top, right, bottom
        self._areas = np.ones(most, dtype=np.float64)
        self._leaf = np.zeros(most, dtype=bool)
        self._threshold, self._inside = threshold, inside

    def add(self, some: Sequence[Element], leaves: "NDArray[Any] | None") -> None:
        """One source's elements."""
        before = len(self.elements)
        for number, element in enumerate(some):
            if self._is_new(element, before):
                self._enter(element, leaf=leaves is not None and bool(leaves[number]))

    def _enter(self, element: Element, *, leaf: bool) -> None:
        place = len(self.elements)
        self._boxes[:, place] = _corners(element)
        self._areas[place] = element.width * element.height
        self._leaf[place] = leaf
        self.elements.append(element)

    def _is_new(self, element: Element, before: int) -> bool:
        """Args: before: how many of the kept ones are of earlier sources."""
        import numpy as np

        count = len(self.elements)
        if not count:
            return True
        left, top, right, bottom = _corners(element)
        boxes, areas = self._boxes[:, :count], self._areas[:count]
        across = np.minimum(boxes[2], right) - np.maximum(boxes[0], left)
        down = np.minimum(boxes[3], bottom) - np.maximum(boxes[1], top)
        common = np.clip(across, 0, None) * np.clip(down, 0, None)
        own = element.width * element.height
        if np.any(common > self._threshold * (areas + own - common)):
            return False
        if not self._inside or not before:
            return True
        share = common[:before] > self._threshold * np.minimum(areas[:before], own)
        return not np.any(share & self._leaf[:before])


def _corners(element: Element) -> tuple[int, int, int, int]:
    return element.x, element.y, element.x + element.width, element.y + element.height


def _leaves(some: Sequence[Element]) -> "NDArray[Any]":
    """Which of one source's elements hold no other of it."""
    import numpy as np

    left, top, right, bottom = np.array([_corners(each) for each in some]).T
    found = np.array([not each.tag.startswith(_CONTAINERS) for each in some])
    areas = (right - left) * (bottom - top)
    for place in range(len(some)):
        inner = (left >= left[place]) & (top >= top[place]) & (right <= right[place]) & (bottom <= bottom[place])
        # The same box twice is a thing and its label, of which neither is the other's container.
        found[place] &= not np.any(inner & (areas < areas[place]))
    return found


def numbered(elements: Sequence[Element], most: int, most_text: int) -> tuple[Mark, ...]:
    """Marks, counted from 1; texts cut."""
    return tuple(
        Mark(
            id=number,
            kind=each.kind,
            text=each.text[:most_text],
            x=each.x,
            y=each.y,
            width=each.width,
            height=each.height,
            origin=each.origin,
            tag=each.tag[:most_text],
            name=each.name[:most_text],
        )
        for number, each in enumerate(elements[:most], 1)
    )
