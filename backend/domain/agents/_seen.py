"""Describes the screen in text for a model: tree, numbered elements, windows."""

from collections.abc import Sequence
from typing import Literal

from backend.domain.errors import Invalid
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import Mark, Window
from backend.domain.ports.agent import CoordinateFrame
from backend.domain.screen.tree import MOST_NAME, cut, estimated_tokens, linear, parents

MOST_TITLES = 100
_COLUMNS = 120
"""Characters across the screen in `text_layout`."""
MOST_TEXT = 300
"""Maximum characters of a title or of an element's text."""


def tree_text(tree: str, sight: CoordinateFrame, most_tokens: int, form: Literal["suites", "paper"] = "suites") -> str:
    """The accessibility tree, filtered, linearised and cut at a number of tokens; a note if it cannot be read."""
    try:
        return linear(tree, platform=sight.platform, form=form, most_tokens=most_tokens)
    except Invalid as error:
        return f"(it cannot be read: {error.message})"


def marks_table(marks: Sequence[Mark], most_tokens: int) -> str:
    """OSWorld's table of numbered elements: index, tag, name, text, separated by tabs."""
    lines = [f"{mark.id}\t{mark.tag or mark.kind}\t{_plain(mark.name)}\t{_plain(mark.text)}" for mark in marks]
    return "\n".join(cut(["index\ttag\tname\ttext", *lines], most_tokens, estimated_tokens))


def controls_table(marks: Sequence[Mark], tree: str | None, most_tokens: int) -> str:
    """`marks_table` with what each element lies in, as the tree says it; without it if there is no readable tree."""
    try:
        known = parents(tree) if tree else {}
    except Invalid:
        known = {}
    if not known:
        return marks_table(marks, most_tokens)
    lines = []
    for mark in marks:
        tag, name = known.get((mark.tag, mark.name[:MOST_NAME], mark.x, mark.y), ("", ""))
        fields = (str(mark.id), mark.tag or mark.kind, _plain(mark.name), _plain(mark.text), _plain(name), tag)
        lines.append("\t".join(fields))
    head = "index\ttag\tname\ttext\tparent name\tparent tag"
    return "\n".join(cut([head, *lines], most_tokens, estimated_tokens))


def elements(marks: Sequence[Mark], screen: ScreenSize, most_tokens: int) -> str:
    """WAA's list of elements: id, type, content and box in 0-1 as (x1, y1, x2, y2); one per line."""
    lines = [
        f"{mark.id}\t{mark.kind}\t{_plain(mark.text or mark.name)}\t"
        f"({mark.x / screen.width:.3f}, {mark.y / screen.height:.3f}, "
        f"{(mark.x + mark.width) / screen.width:.3f}, {(mark.y + mark.height) / screen.height:.3f})"
        for mark in marks
    ]
    return "\n".join(cut(["id\ttype\tcontent\tbox", *lines], most_tokens, estimated_tokens)) if lines else ""


def text_layout(marks: Sequence[Mark], screen: ScreenSize, most_tokens: int) -> str:
    """The texts of all elements in lines, each roughly where it stands on the screen, WAA's "text rendering"."""
    rows: list[list[Mark]] = []
    for mark in sorted((mark for mark in marks if mark.text or mark.name), key=lambda mark: mark.centre[1]):
        last = rows[-1][0] if rows else None
        if last is not None and abs(mark.centre[1] - last.centre[1]) * 2 < min(mark.height, last.height):
            rows[-1].append(mark)
        else:
            rows.append([mark])
    lines = []
    for row in rows:
        line = ""
        for mark in sorted(row, key=lambda mark: mark.x):
            column = mark.x * _COLUMNS // screen.width
            line = f"{line.ljust(column)}{'' if len(line) <= column else '  '}{_plain(mark.text or mark.name)}"
        lines.append(line)
    return "\n".join(cut(lines, most_tokens, estimated_tokens))


def titles(windows: Sequence[Window]) -> tuple[str, list[str]]:
    """Title of the front window (empty if there is none), and of all others from top to bottom."""
    front = next((window for window in reversed(windows) if window.active), None)
    others = [_plain(window.title) for window in reversed(windows) if window is not front and window.title.strip()]
    return _plain(front.title) if front else "", others[:MOST_TITLES]


def _plain(text: str) -> str:
    """One line of limited length."""
    short = " ".join(text.split())
    return short if len(short) <= MOST_TEXT else short[: MOST_TEXT - 1] + "…"
