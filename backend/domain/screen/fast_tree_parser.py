"""Reads accessibility trees of the form in which guests write them, faster than an XML parser calls back.

Their writers (lxml, ElementTree) have one form: names declared at the root, one blank between attributes, values in
double quotes, no comments, no types. Only text of that form that is well-formed is read here; everything else is left
to the parser, which also knows what is wrong with it.

Elements have few different lists of attributes. For each there is one pattern, made from the first element that has it,
which finds the values that count; patterns are kept, because the next tree has the same ones.
"""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from html import unescape
from typing import NamedTuple

from backend.domain.screen.tree_filter import PAIR, Names, TreeElement, family, is_wanted, make_node

_NAME = r"[A-Za-z_][A-Za-z0-9_.:-]*"
_ATTRIBUTE = re.compile(rf' ({_NAME})="([^"]*)"')
_HEAD = re.compile(rf'({_NAME})((?: {_NAME}="[^"]*")*) ?(/?)>')
_DECLARED = re.compile(rf' xmlns:({_NAME})="([^"]*)"')
_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#0?9|#1[03]);)")
_STRANGE = re.compile("[\ufffe\uffff]")
_PREFIX_LENGTH = 12
"""Characters of an element by which the pattern is guessed that may fit; a wrong guess costs time only."""
_TRIED = 8
"""Patterns of which one is likely to fit, before the right one is worked out."""
_CONTROLS = bytes(set(range(32)) - {9, 10})
_PAIR = r"\((\d{1,7}), (\d{1,7})\)"
_IS_PAIR = re.compile(_PAIR)


class UnsupportedTree(Exception):  # noqa: N818 - no failure: the parser reads it.
    """The text is not of that form."""


class _Shape(NamedTuple):
    """One list of attributes, with which of them say `true` or have a place, and the pattern of what has it."""

    tag: str
    end: str
    """Text after the `<` of its end tag; empty where it has none."""
    pattern: re.Pattern[str]
    groups: tuple[int, ...]
    """Of name, text, two kinds, description, value, x, y, width, height; none where no such element counts."""
    picture: bool


_NO_SHAPE = _Shape("", end="", pattern=re.compile("(?!)"), groups=(), picture=False)


class _Marks(NamedTuple):
    """The relevant attributes by purpose."""

    needed: tuple[str, ...]
    usable: tuple[str, ...]
    places: tuple[str, str]
    """Of the place and the size."""
    texts: tuple[str, ...]
    """Of the name, two kinds, the description and the value."""
    switches: frozenset[str]
    """Those of which `true` counts, and nothing else."""

    @classmethod
    def for_names(cls, names: Names, *, windows: bool) -> "_Marks":
        needed = (names.visible,) if windows else (names.visible, names.showing)
        usable = (names.enabled, names.editable, names.expandable, names.checkable)
        texts = ("name", names.kind, names.windows_kind, names.description, names.value)
        return cls(needed, usable, (names.place, names.size), texts, frozenset({*needed, *usable, "image"}))


def quick_nodes(xml: str, platform: str) -> list[TreeElement]:
    """The elements that the filter keeps; see `_tree.nodes`.

    Raises:
        UnsupportedTree: it must be read by the parser.
    """
    pieces = _pieces(xml)
    root = _HEAD.match(pieces[0])
    if root is None:
        raise UnsupportedTree
    declared = _DECLARED.findall(root[2])
    families = {name: f"{prefix}:" for prefix, uri in declared if (name := family(uri))}
    windows = platform == "Windows" or (not platform and any("windows" in uri for _, uri in declared))
    marks = _Marks.for_names(Names(families), windows=windows)
    return _read(pieces, marks, {prefix for prefix, _ in declared}, escaped="&" in xml)


def _pieces(xml: str) -> list[str]:
    """The text after each `<` of an element, after a check that all characters are allowed."""
    pieces = xml.split("<")
    before = pieces.pop(0)
    if pieces and pieces[0].startswith("?xml ") and pieces[0].rstrip().endswith("?>"):
        pieces.pop(0)
    try:
        data = xml.encode()
    except UnicodeEncodeError as error:
        raise UnsupportedTree from error
    if before or not pieces or ("]" in xml and "]]>" in xml) or len(data.translate(None, _CONTROLS)) != len(data):
        raise UnsupportedTree
    if (not xml.isascii() and _STRANGE.search(xml)) or ("&" in xml and _ENTITY.search(xml)):
        raise UnsupportedTree
    return pieces


def _read(pieces: Sequence[str], marks: _Marks, prefixes: AbstractSet[str], *, escaped: bool) -> list[TreeElement]:
    nodes: list[TreeElement | None] = []
    path: list[str] = []
    recent: dict[str, _Shape] = {}
    others = _Shapes(marks, prefixes)
    for piece in pieces:
        if piece[:1] == "/":
            if not path or not piece.startswith(path.pop()):
                raise UnsupportedTree
            continue
        shape = recent.get(piece[:_PREFIX_LENGTH], _NO_SHAPE)
        match = shape.pattern.match(piece)
        if match is None:
            shape, match = others.find(piece, root=piece is pieces[0])
            recent[piece[:_PREFIX_LENGTH]] = shape
        if match is None or not (path or piece is pieces[0]):
            raise UnsupportedTree  # Blanks that the parser changes, or a second root.
        if shape.end:
            path.append(shape.end)
        if shape.groups:
            values = match.group(*shape.groups)
            nodes.append(_node(shape, tuple(map(unescape, values)) if escaped else values))
    if path or pieces[-1][pieces[-1].find(">") :].rstrip() != ">":
        raise UnsupportedTree
    return list(filter(None, nodes))


class _Shapes:
    """The shapes of one tree, those found last first."""

    def __init__(self, marks: _Marks, prefixes: AbstractSet[str]) -> None:
        self._marks = marks
        self._prefixes = prefixes
        self._known: dict[str, list[_Shape]] = {}

    def find(self, piece: str, *, root: bool) -> tuple[_Shape, re.Match[str] | None]:
        """The shape of an element, and its match; None where blanks stand that the parser changes."""
        known = self._known.setdefault(piece[:_PREFIX_LENGTH], [])
        for index, shape in enumerate(known):
            match = shape.pattern.match(piece)
            if match is not None:
                known.insert(0, known.pop(index))
                return shape, match
        shape = _shape(_key(piece, self._marks, {*self._prefixes, "xmlns"} if root else self._prefixes), self._marks)
        known.insert(0, shape)
        del known[_TRIED:]
        return shape, shape.pattern.match(piece)


def _node(shape: _Shape, values: Sequence[str]) -> TreeElement | None:
    name, text, kind, windows_kind, description, value, x, y, width, height = values
    kind = kind or windows_kind
    if not (name or text or shape.picture):
        return None
    if not text and kind.endswith("EditWrapper"):
        text = value
    box = int(x), int(y), int(width), int(height)
    return make_node(TreeElement, (shape.tag, name, text, kind, description, *box)) if box[2] and box[3] else None


def _key(piece: str, marks: _Marks, prefixes: AbstractSet[str]) -> str:
    """The head of an element with what its shape depends on: `true` where it counts, `(,)` for a place."""
    head = _HEAD.match(piece)
    if head is None:
        raise UnsupportedTree
    attributes = _ATTRIBUTE.findall(head[2])
    named = [head[1], *(name for name, _ in attributes)]
    if len(set(named[1:])) != len(attributes) or any(
        ":" in name and name.split(":")[0] not in prefixes for name in named
    ):
        raise UnsupportedTree
    signs = "".join(f' {name}="{_sign(name, value, marks)}"' for name, value in attributes)
    return f"{head[1]}{signs}{head[3]}>"


def _sign(name: str, value: str, marks: _Marks) -> str:
    if name in marks.switches:
        return "true" if value == "true" else ""
    if name in marks.places:
        if _IS_PAIR.fullmatch(value):
            return "(,)"
        if "&" in value or PAIR.match(value):
            raise UnsupportedTree
    return ""


@lru_cache(maxsize=4096)
def _shape(key: str, marks: _Marks) -> _Shape:
    head = _HEAD.match(key)
    if head is None:
        raise UnsupportedTree
    attributes = _ATTRIBUTE.findall(head[2])
    names = {name for name, value in attributes if value}
    counts = (
        is_wanted(head[1]) and names.issuperset((*marks.needed, *marks.places)) and names.intersection(marks.usable)
    )
    at: dict[str, int] = {}
    pattern, number = re.escape(head[1]), 1
    for name, sign in attributes:
        form = _form(name, sign, marks)
        at[name] = number
        number += form.count("(") - form.count("(?") - form.count(r"\(")
        pattern += f' {re.escape(name)}="{form}"'
    pattern += " ?/()>()" if head[3] else " ?()>(.*)"
    empty, text = number, number + 1
    name, kind, windows_kind, description, value = (at.get(label, empty) for label in marks.texts)
    x, width = (at.get(place, empty) for place in marks.places)
    groups = (name, text, kind, windows_kind, description, value, x, x + 1, width, width + 1)
    compiled = re.compile(pattern, re.DOTALL)
    return _Shape(head[1], "" if head[3] else f"/{head[1]}>", compiled, groups if counts else (), "image" in names)


def _form(name: str, sign: str, marks: _Marks) -> str:
    """The pattern of an attribute's value."""
    if name in marks.switches:
        return "true" if sign else '(?!true")[^"]*'
    if name in marks.places:
        return _PAIR if sign else r'(?!\s*\(\s*\d{1,7}\s*,\s*\d{1,7}\s*\))[^"&]*'
    return r'([^"\n\t]*)' if name in marks.texts else '[^"]*'
