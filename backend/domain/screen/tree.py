"""The accessibility tree as agents read it: filtered and in lines (protocols §4, OSWorld's Table 13).

The tree comes from a guest: it is parsed by expat, which rejects documents with their own definitions, never looks
anything up and does not recurse. Trees of the usual form are then read without a parser (`fast_tree_parser`).
Figures: docs/reports/performance-observe.md.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal
from xml.parsers import expat

from backend.domain.errors import GuestLost, Invalid
from backend.domain.model.trajectory import Observation
from backend.domain.ports.desktop import Desktop
from backend.domain.screen.fast_tree_parser import UnsupportedTree, quick_nodes
from backend.domain.screen.tree_filter import PAIR, Names, TreeElement, family, is_wanted, make_node, pair

Form = Literal["suites", "paper"]
MOST_BYTES = 64 * 2**20
MOST_FIELD = 2000
"""Characters of one field of a line: a whole book in a text box must not push everything else out."""
MOST_NAME = 200
"""Characters by which an element's name is known in `parents`."""

_BLANKS = re.compile(r"[\t\r\n\x0b\x0c\x85\u2028\u2029]+")
_PIECE = re.compile(r"[A-Za-z]{1,8}|\d{1,3}|[^\x00-\x7f]|[!-/:-@\[-`{-~]{1,2}|[\t\n]")


def nodes(xml: str, platform: str = "") -> list[TreeElement]:
    """The elements that the filter keeps, in the tree's order.

    Args:
        xml: the tree in OSWorld's, OSWorld's Windows or WindowsAgentArena's namespaces.
        platform: `Linux` or `Windows`; empty = from its namespaces. Windows has no state `showing`.

    Raises:
        Invalid: it is not XML, defines entities, or is too large.
    """
    _check_length(xml)
    try:
        return quick_nodes(xml, platform)
    except UnsupportedTree:
        return parsed_nodes(xml, platform)


def parsed_nodes(xml: str, platform: str = "") -> list[TreeElement]:
    """As `nodes`, by the parser alone: what is right. Raises Invalid."""
    reader = _Reader(platform)
    _parse(xml, reader)
    return reader.elements


def linear(
    xml: str,
    *,
    platform: str = "",
    form: Form = "suites",
    most_tokens: int | None = None,
    count: Callable[[str], int] | None = None,
) -> str:
    """The filtered tree as a table with tabs, one element a line, a line of headings first.

    Args:
        xml: the tree.
        platform: as `nodes`.
        form: `suites`: tag, name, text, class, description, position, size, as OSWorld's code and ProSoftArena have it;
            `paper`: without class and description, as OSWorld's paper.
        most_tokens: None = all; else as many whole lines as fit, and a last one with the number of omitted ones.
        count: number of tokens of a text; None = `estimated_tokens`.

    Raises:
        Invalid: as `nodes`.
    """
    elements = nodes(xml, platform)
    write = _suites_line if form == "suites" else _paper_line
    lines = itertools.chain((_HEADS[form],), map(write, elements))
    if most_tokens is None:
        return "\n".join(lines)
    return "\n".join(cut(lines, most_tokens, count or estimated_tokens, of=len(elements) + 1))


def cut(lines: Iterable[str], most_tokens: int, count: Callable[[str], int], *, of: int | None = None) -> Iterator[str]:
    """As many whole lines as fit, and one with the number of omitted ones.

    Args:
        lines: consumed only as long as they fit.
        most_tokens: of all together; each line's end counts as one.
        count: tokens of a line.
        of: how many lines there are; None = as many as the list has.
    """
    used = 0
    total = of if of is not None else len(list(lines))
    for number, line in enumerate(lines):
        used += count(line) + 1
        if used > most_tokens:
            yield f"[... {total - number} more]"
            return
        yield line


def estimated_tokens(text: str) -> int:
    """About as many tokens as the large models' tokenisers make of a text: a word, three digits, two signs are one."""
    return len(_PIECE.findall(text))


def read_tree(desktop: Desktop) -> str:
    """The desktop's tree, known to be XML that agents can read.

    Raises:
        GuestLost: it is malformed, which is not the agent's fault.
    """
    xml = desktop.accessibility_tree()
    try:
        _parse(xml, None)
    except Invalid as error:
        raise GuestLost(
            f"the desktop's accessibility tree is damaged: {error.message}", code="observation_damaged"
        ) from error
    return xml


def look_with_tree(desktop: Desktop, index: int) -> Observation:
    """One frame, then the tree and the windows that belong to it as nearly as can be."""
    frame = desktop.frame()
    return Observation(index=index, frame=frame, a11y_tree=read_tree(desktop), windows=tuple(desktop.windows()))


_HEADS = {
    "suites": "tag\tname\ttext\tclass\tdescription\tposition (top-left x&y)\tsize (w&h)",
    "paper": "tag\tname\ttext\tposition (top-left x&y)\tsize (w&h)",
}


def _suites_line(node: TreeElement) -> str:
    tag, name, text, kind, description, x, y, width, height = node
    line = name + text + kind + description
    if text and len(line) <= MOST_FIELD and '"' not in text and line.isprintable():  # The usual one.
        return f"{tag}\t{name}\t{text}\t{kind}\t{description}\t({x}, {y})\t({width}, {height})"
    return (
        f"{tag}\t{_plain(name)}\t{quote(text)}\t{_plain(kind)}\t{_plain(description)}\t({x}, {y})\t({width}, {height})"
    )


def _paper_line(node: TreeElement) -> str:
    position, size = f"({node.x}, {node.y})", f"({node.width}, {node.height})"
    return f"{node.tag}\t{_plain(node.name)}\t{quote(node.text)}\t{position}\t{size}"


def quote(text: str) -> str:
    """A text as a field of a line: in quotes if it has some or is empty."""
    plain = _plain(text)
    return '"' + plain.replace('"', '""') + '"' if not plain or '"' in plain else plain


def _plain(text: str) -> str:
    if len(text) > MOST_FIELD:
        text = text[: MOST_FIELD - 1] + "…"
    return text if text.isprintable() else _BLANKS.sub(" ", text)


def parents(xml: str) -> Mapping[tuple[str, str, int, int], tuple[str, str]]:
    """Parent of each element with a position: (tag, name, x, y) to the parent's (tag, name).

    Names are cut at MOST_NAME characters. Of elements that are alike, the first counts. Raises Invalid.
    """
    reader = _ParentReader("")
    _parse(xml, reader)
    return reader.parents


class _Reader:
    """Receives expat's events and keeps what passes the filter. Called for every node, so it is terse."""

    def __init__(self, platform: str) -> None:
        self.elements: list[TreeElement] = []
        self.texts: list[str] = []
        self._names = Names({})
        self._families: dict[str, str] = {}
        self._platform = platform
        self._windows = platform == "Windows"
        self._open: tuple[str, dict[str, str], re.Match[str], tuple[int, int]] | None = None

    def declared(self, uri: str | None, beginning: str) -> None:
        """A namespace, and how names in it begin."""
        name = family(uri or "")
        if name:
            self._families[name] = beginning
            self._names = Names(self._families)
        if not self._platform and uri and "windows" in uri:
            self._windows = True

    def root(self, tag: str, values: dict[str, str]) -> None:
        """The first element, with names as written, because it declares the prefixes."""
        for name, uri in values.items():
            if name.startswith("xmlns:"):
                self.declared(uri, f"{name[6:]}:")
        self.start(tag, values)

    def start(self, tag: str, values: dict[str, str]) -> None:
        """An element begins. It counts if a person could see and use it."""
        if self._open is not None:
            self._close()
        if self.texts:
            self.texts.clear()
        names, get = self._names, values.get
        if not is_wanted(tag) or get(names.visible) != "true" or not (self._windows or get(names.showing) == "true"):
            return
        if get(names.enabled) != "true" and "true" not in {
            get(names.editable),
            get(names.expandable),
            get(names.checkable),
        }:
            return
        position, size = PAIR.match(get(names.place, "")), pair(get(names.size, ""))
        if position is not None and size is not None:
            self._open = (tag, values, position, size)

    def end(self, _tag: str) -> None:
        """End of an element: following text does not belong to it."""
        if self._open is not None:
            self._close()
        if self.texts:
            self.texts.clear()

    def _close(self) -> None:
        """Its text is what came before its first child."""
        assert self._open is not None  # noqa: S101 - the callers have looked.
        tag, values, position, size = self._open
        self._open = None
        text, names, get = "".join(self.texts), self._names, values.get
        name, kind = get("name", ""), get(names.kind, "") or get(names.windows_kind, "")
        if not name and not text and get("image") != "true":
            return
        if not text and kind.endswith("EditWrapper"):
            text = get(names.value, "")
        width, height = size
        if width and height:
            x, y = position.groups()
            fields = (tag, name, text, kind, get(names.description, ""), int(x), int(y), width, height)
            self.elements.append(make_node(TreeElement, fields))


class _ParentReader(_Reader):
    """Keeps what every element lies in, whatever the filter says."""

    def __init__(self, platform: str) -> None:
        super().__init__(platform)
        self.parents: dict[tuple[str, str, int, int], tuple[str, str]] = {}
        self._path = [("", "")]

    def start(self, tag: str, values: dict[str, str]) -> None:
        self.texts.clear()
        name, position = values.get("name", "")[:MOST_NAME], PAIR.match(values.get(self._names.place, ""))
        if position is not None:
            self.parents.setdefault((tag, name, int(position[1]), int(position[2])), self._path[-1])
        self._path.append((tag, name))

    def end(self, _tag: str) -> None:
        self.texts.clear()
        self._path.pop()


def _parse(xml: str, reader: _Reader | None) -> None:
    _check_length(xml)
    # Having expat resolve every name costs half as much again; guests declare all their namespaces at the root.
    resolving = xml.find("xmlns", xml.find(">", xml.find("?>") + 2)) >= 0
    parser = expat.ParserCreate(namespace_separator="}" if resolving else None)
    parser.StartDoctypeDeclHandler = _refuse
    if reader is not None:
        _connect(parser, reader, resolving=resolving)
    try:
        parser.Parse(xml.encode(errors="replace"), True)
    except expat.ExpatError as error:
        raise Invalid(f"the accessibility tree is not XML: {error}", code="invalid_accessibility_tree") from error


def _check_length(xml: str) -> None:
    if len(xml) > MOST_BYTES:
        raise Invalid(
            f"the accessibility tree has {len(xml)} characters, more than {MOST_BYTES}",
            code="invalid_accessibility_tree",
        )


def _connect(parser: expat.XMLParserType, reader: _Reader, *, resolving: bool) -> None:
    def root(tag: str, values: dict[str, str]) -> None:
        parser.StartElementHandler = reader.start
        reader.root(tag, values)

    parser.buffer_text = True
    parser.StartElementHandler = reader.start if resolving else root
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.texts.append
    if resolving:
        parser.StartNamespaceDeclHandler = lambda _, uri: reader.declared(uri, f"{uri}}}")


def _refuse(*_: object) -> None:
    raise Invalid("the accessibility tree has a document type, which is not allowed", code="invalid_accessibility_tree")
