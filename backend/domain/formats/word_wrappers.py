"""Replaces the wrappers of WordprocessingML by their content, so that paragraphs, rows, cells and runs are children.

These are insertions, moves, content controls, smart tags, custom XML, fields and hyperlinks. Deleted text is removed;
a paragraph whose mark is deleted is merged into the next one. Source: ECMA-376, part 1, 17.13.5 (revisions), 17.5
(content controls, custom XML), 17.16 (fields), 17.3.3.25 (ruby).
"""

from collections.abc import Iterator
from typing import Any

from backend.domain.formats.alternate_content import put_in_place, resolve_alternates

Element = Any
"""An lxml element of WordprocessingML."""

_MAIN = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def w(name: str) -> str:
    """The full name of a WordprocessingML element or attribute."""
    return _MAIN + name


_CONFLICT = "{http://schemas.microsoft.com/office/word/2010/wordml}conflict"
"""Changes of others that Word merged while two people edited (MS-DOCX, 2.6.1.5)."""
_DELETIONS = (w("del"), w("moveFrom"), w("cellDel"), f"{_CONFLICT}Del")
_PROPERTIES = [w(f"{name}Pr") for name in ("sdt", "sdtEnd", "smartTag", "customXml", "ruby")]
_WRAPPERS = [
    *map(w, ("ins", "moveTo", "sdt", "sdtContent", "smartTag", "customXml", "fldSimple", "hyperlink", "dir", "bdo")),
    f"{_CONFLICT}Ins",
]
_CHARACTERS = [w(name) for name in ("t", "tab", "ptab", "br", "cr", "noBreakHyphen", "sym")]


def resolve_wrappers(root: Element) -> None:
    """Changes the elements below the root in place to what Word shows."""
    resolve_alternates(root)
    drop_deletions(root)
    for element in list(root.iter(*_PROPERTIES, w("rt"))):
        _remove(element)
    for wrapper in list(root.iter(*_WRAPPERS)):
        put_in_place(wrapper, wrapper)
    for base in list(root.iter(w("rubyBase"))):
        run = next(base.iterancestors(w("r")), None)
        if run is not None:
            for inner in list(base):
                run.addprevious(inner)
    _join_paragraphs(root)
    _drop_field_codes(root)


def drop_deletions(root: Element) -> None:
    """Removes text, cells, rows and tables that are deleted or moved elsewhere; marks of paragraphs stay."""
    for mark in list(root.iter(*_DELETIONS)):
        owner = mark.getparent()
        kind = None if owner is None else owner.tag
        if kind in {w("trPr"), w("tcPr")}:
            _drop_part_of_table(owner.getparent())
        elif kind != w("rPr") and kind is not None:
            owner.remove(mark)


def _drop_part_of_table(part: Element) -> None:
    """Removes a cell or row, and the row or table that is empty then."""
    table = part.getparent()
    if table is not None:
        table.remove(part)
        if table.tag in {w("tr"), w("tbl")} and next(table.iterdescendants(w("tc"), w("tr")), None) is None:
            _drop_part_of_table(table)


def _remove(element: Element) -> None:
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)


def _join_paragraphs(root: Element) -> None:
    """Merges paragraphs whose mark is deleted into the next ones, from the last to the first."""
    for paragraph in reversed(list(_visible_elements(root))):
        content = [inner for inner in paragraph if inner.tag != w("pPr")]
        following = next(paragraph.itersiblings(w("p"), w("tbl")), None)
        if following is not None and following.tag == w("p"):
            _prepend(following, content)
            _remove(paragraph)
        elif not content and next(paragraph.itersiblings(w("p"), preceding=True), None) is not None:
            _remove(paragraph)


def _visible_elements(root: Element) -> Iterator[Element]:
    for mark in root.iter(w("del"), w("moveFrom")):
        path = [mark, *mark.iterancestors()][1:4]
        if [element.tag for element in path] == [w("rPr"), w("pPr"), w("p")]:
            yield path[-1]


def _prepend(paragraph: Element, content: list[Element]) -> None:
    first = next((inner for inner in paragraph if inner.tag != w("pPr")), None)
    for inner in content:
        if first is None:
            paragraph.append(inner)
        else:
            first.addprevious(inner)


def _drop_field_codes(root: Element) -> None:
    """Removes text between a field's begin and its result: results of fields in a field's code are not shown."""
    if next(root.iter(w("fldChar")), None) is None:  # Spares large documents a look at every text.
        return
    codes: list[list[Element] | None] = []  # What stands in the code of each open field; None once its result begins.
    for element in list(root.iter(w("fldChar"), *_CHARACTERS)):
        kind = element.get(w("fldCharType")) if element.tag == w("fldChar") else None
        if kind == "begin":
            codes.append([])
        elif kind is not None and codes:
            for hidden in codes.pop() or ():
                _remove(hidden)
            if kind == "separate":
                codes.append(None)
        elif kind is None and (outermost := next((code for code in codes if code is not None), None)) is not None:
            outermost.append(element)
