"""Set-of-marks: merges elements of several sources into one numbered list without overlaps (protocols §4)."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from backend.domain.model.trajectory import Mark

if TYPE_CHECKING:
    from numpy.typing import NDArray

Overlap = Literal["inside", "iou", "none"]
MOST_PER_SOURCE = 2000
"""Maximum elements of one source."""
_AT_ONCE = 256
"""Elements compared with all earlier ones per batch: a few MB."""
_CONTAINERS = ("document", "canvas", "section", "paragraph", "scroll")


class Element(NamedTuple):
    """A candidate for a mark; its box is in screen pixels."""

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
    """Its visible part on a screen of that size; None if there is none."""
    left, top = max(0, element.x), max(0, element.y)
    right = min(across, element.x + element.width)
    bottom = min(down, element.y + element.height)
    if right <= left or bottom <= top:
        return None
    if (left, top, right, bottom) == _corners(element):
        return element
    return element._replace(x=left, y=top, width=right - left, height=bottom - top)


def merge_elements(sources: Sequence[Sequence[Element]], overlap: Overlap, threshold: float) -> list[Element]:
    """All elements in the order of their sources, without those covered by an earlier source.

    Within a source, only near-duplicates are dropped. An element of a later source is dropped if it overlaps an
    accepted one: by `iou`, their intersection is more than `threshold` of their union; by `inside`, also where it is
    more than that share of the smaller one. A container (something that holds other elements of its source, or a
    document) leaves nothing out by lying around it.

    Args:
        sources: elements per source; those of the tree come first.
        overlap: the rule; `none` keeps all.
        threshold: share, 0 to 1.
    """
    ordered = sorted(sources, key=lambda some: bool(some) and some[0].origin != "tree")
    limited = [list(some[:MOST_PER_SOURCE]) for some in ordered if some]
    if overlap == "none":
        return [element for some in limited for element in some]
    every = [element for some in limited for element in some]
    keep = [True] * len(every)
    for number, earlier in _covering(limited, threshold, inside=overlap == "inside"):
        keep[number] = not any(keep[index] for index in earlier)
    return [element for element, stays in zip(every, keep, strict=True) if stays]


def _covering(
    sources: Sequence[Sequence[Element]], threshold: float, *, inside: bool
) -> Iterator[tuple[int, list[int]]]:
    """For each element that earlier ones may cover: its index and theirs, in order."""
    import numpy as np

    boxes = np.array([_corners(element) for some in sources for element in some], dtype=np.float64).reshape(-1, 4)
    source = np.repeat(np.arange(len(sources)), [len(some) for some in sources])
    leaves = np.concatenate([_leaves(some) for some in sources]) if len(sources) > 1 and inside else None
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    for start in range(0, len(boxes), _AT_ONCE):
        end = min(start + _AT_ONCE, len(boxes))
        some, before = boxes[start:end, None], boxes[None, :end]
        common = np.minimum(some[..., 2], before[..., 2]) - np.maximum(some[..., 0], before[..., 0])
        down = np.minimum(some[..., 3], before[..., 3]) - np.maximum(some[..., 1], before[..., 1])
        np.clip(common, 0, None, out=common)
        common *= np.clip(down, 0, None, out=down)
        own, others = areas[start:end, None], areas[None, :end]
        same = common > threshold * (own + others - common)
        if leaves is not None:
            apart = source[start:end, None] > source[None, :end]
            same |= (common > threshold * np.minimum(own, others)) & apart & leaves[None, :end]
        for row, earlier in _pairs(np.tril(same, start - 1)):
            yield start + row, earlier


def _pairs(matrix: "NDArray[Any]") -> Iterator[tuple[int, list[int]]]:
    """Rows with something in them, and its columns."""
    import numpy as np

    for row in np.flatnonzero(matrix.any(axis=1)):
        yield int(row), np.flatnonzero(matrix[row]).tolist()


def _corners(element: Element) -> tuple[int, int, int, int]:
    return element.x, element.y, element.x + element.width, element.y + element.height


def _leaves(some: Sequence[Element]) -> "NDArray[Any]":
    """Elements of one source that contain no other element of it."""
    import numpy as np

    left, top, right, bottom = np.array([_corners(element) for element in some]).T
    leaves = np.array([not element.tag.startswith(_CONTAINERS) for element in some])
    areas = (right - left) * (bottom - top)
    for index in range(len(some)):
        inner = (left >= left[index]) & (top >= top[index]) & (right <= right[index]) & (bottom <= bottom[index])
        # Identical boxes are a control and its label, neither of which contains the other.
        leaves[index] &= not np.any(inner & (areas < areas[index]))
    return leaves


def number_marks(elements: Sequence[Element], most: int, most_text: int) -> tuple[Mark, ...]:
    """Marks, counted from 1; texts cut."""
    return tuple(
        Mark(
            id=number,
            kind=element.kind,
            text=element.text[:most_text],
            x=element.x,
            y=element.y,
            width=element.width,
            height=element.height,
            origin=element.origin,
            tag=element.tag[:most_text],
            name=element.name[:most_text],
        )
        for number, element in enumerate(elements[:most], 1)
    )
