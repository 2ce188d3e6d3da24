"""Lists: tables of rows are sorted, searched and cut to columns by the service, and the address says how.

The list `nodes` reads `nodes.sort` (a column; descending with a minus), `nodes.find` (words) and `nodes.hide` (columns)
of the address; the list that a page is about has no prefix. Columns are named by their heads. A template encloses a
table in `{% filter listing("nodes") %}`: its rows are all there, and are sorted by what their cells show. Of a list
with several pages the database sorts the columns that it can (`backend.db.repositories.sorting`); the others have
no order.
"""

import html
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from backend.services.read_model import DASH
from backend.web.query_strings import Query, with_query

FIND_FROM = 9
"""Rows from which a list has a search field."""
COLUMNS_FROM = 4
"""Columns from which they can be chosen."""
PAGING = ("after", "before", "page", "cursor")
"""Which part of a list the address is about: not of another order of it."""
LONGEST_WORDS = 200
_TABLE = re.compile(
    r"(<table\b[^>]*)(>.*?<thead>\s*<tr>)(.*?)(</tr>\s*</thead>\s*<tbody[^>]*>)(.*)(</tbody>)", re.DOTALL
)
_HEAD = re.compile(r"<th\b([^>]*)>(.*?)</th>", re.DOTALL)
_ROW = re.compile(r"<tr\b.*?</tr>\s*", re.DOTALL)
_CELL = re.compile(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_SPACE = re.compile(r"\s+")
_TIME = re.compile(r'<time\b[^>]*?\bdatetime="([^"]+)"')
_AMOUNT = re.compile(r"(\d[\d,]*(?:\.\d+)?)\s*(kB|MB|GB|KiB|MiB|GiB|B|min|h|d|s)\b")
_NUMBER = re.compile(r"[$≥~#v]*\s*([-+]?\d[\d,]*(?:\.\d+)?)(?![\w.-])")
_UNITS = {
    "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86_400.0, "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9,
    "KiB": 1024.0, "MiB": 1024.0**2, "GiB": 1024.0**3,
}  # fmt: skip
SortKey = tuple[Any, ...]


def text_of(markup: str) -> str:
    """Visible text of a piece of a page, on one line."""
    return _SPACE.sub(" ", html.unescape(_TAG.sub(" ", markup))).strip()


def slug(name: str) -> str:
    """A column's name in addresses: `tokens-in` for `Tokens in`."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def sort_key(cell: str) -> SortKey | None:
    """Sort value of a cell: times, durations, sizes, money and numbers as numbers, before texts; None if empty."""
    if moment := _TIME.search(cell):
        return (0, datetime.fromisoformat(moment[1]).timestamp())
    text = text_of(cell)
    if text in {"", DASH}:
        return None
    if text[0].isdigit() or text[0] in "<≥~":
        amounts = _AMOUNT.findall(text)
        if amounts:
            return (0, sum(_number(number) * _UNITS[unit] for number, unit in amounts))
    if plain := _NUMBER.match(text):
        return (0, _number(plain[1]))
    # Numbers within a text as numbers: task-9 before task-10.
    parts = (("".join(part), digits) for digits, part in groupby(text.casefold(), str.isdecimal))
    return (1, tuple((0, int(part), "") if digits else (1, 0, part) for part, digits in parts))


def _number(text: str) -> float:
    return float(text.replace(",", ""))


@dataclass(frozen=True)
class ListState:
    """State of one list in the page's address.

    Attributes:
        path, query: of the page.
        key: of the list; empty for the one that the page is about.
        anchor: element of the page to which links lead.
    """

    path: str
    query: Query
    key: str
    anchor: str

    def name(self, part: str) -> str:
        """A name in the query."""
        return f"{self.key}.{part}" if self.key else part

    def values(self, part: str) -> list[str]:
        """The query's values for a part of this list's state."""
        value = self.query.get(self.name(part), "")
        return [value] if isinstance(value, str) else value

    @property
    def sort(self) -> tuple[str, bool]:
        """Column, and whether it descends."""
        wish = self.values("sort")[-1]
        return wish.removeprefix("-"), wish.startswith("-")

    @property
    def words(self) -> str:
        """Search text."""
        return self.values("find")[-1].strip()[:LONGEST_WORDS]

    @property
    def hidden(self) -> frozenset[str]:
        """Columns that are not shown."""
        return frozenset(filter(None, self.values("hide")))

    def link(self, part: str, value: str | list[str] | None) -> str:
        """The page with another state of this list."""
        paging = {} if part == "hide" else {self.name(name): None for name in PAGING}
        address = with_query(self.path, self.query, **{**paging, self.name(part): value})
        return f"{address}#{self.anchor}" if self.anchor else address

    @property
    def others(self) -> list[tuple[str, str]]:
        """Names and values of the rest of the query, for a form that searches this list."""
        drop = {self.name("find"), *map(self.name, PAGING)}
        return [
            (name, value)
            for name, values in self.query.items()
            if name not in drop
            for value in ([values] if isinstance(values, str) else values)
        ]


@dataclass(frozen=True)
class ListColumn:
    """One column of a list.

    Attributes:
        place: from 1.
        sortable: whether the list can be sorted by it.
    """

    place: int
    name: str
    slug: str
    attributes: str
    content: str
    sortable: bool


def columns_of(heads: str, by: Collection[str], *, whole: bool) -> list[ListColumn]:
    """Columns by their heads. Only those in `by` can be sorted, unless the rows are all there."""
    columns: list[ListColumn] = []
    slugs: set[str] = set()
    for index, head in enumerate(_HEAD.finditer(heads), 1):
        name = text_of(head[2])
        key = slug(name)
        if key in slugs:
            key = f"{key}-{index}"
        slugs.add(key)
        own = bool(re.search(r"<(a|button|select)\b|^<span class=\"sr\">", head[2])) or "data-unsorted" in head[1]
        sortable = bool(name) and not own and (whole or key in by)
        columns.append(ListColumn(index, name, key, head[1], head[2], sortable))
    return columns


@pass_context
def listing(  # noqa: PLR0913 - the table, and what a template says of it
    context: Context,
    table: str,
    key: str = "",
    *,
    by: Collection[str] = (),
    whole: bool = True,
    anchor: str | None = None,
) -> Markup:
    """A table with links that sort it and choose its columns, and its rows as the address says.

    Args:
        context: the page's.
        table: as rendered, with one head and one body.
        key: of the list; empty for the one that the page is about.
        by: columns by which the database has sorted it if the address says so; its page has a search of its own.
        whole: whether all of its rows are there.
        anchor: element of the page to which links lead; default: the list, if it has a key.
    """
    unchanged, table = Markup(table), str(table)  # noqa: S704 - rendered by a template, which escapes
    parts = _TABLE.search(table)
    # A public page has no links.
    if parts is None or "colspan=" in table or "rowspan=" in table or context.get("public"):
        return unchanged
    fragment = (f"list-{key}" if key else "") if anchor is None else anchor
    state = ListState(context["path"], context["query"], key, fragment)
    rows = _ROW.findall(parts[5])
    columns = columns_of(parts[3], by, whole=whole)
    if len(rows) < 2 and not (state.words or state.hidden):  # noqa: PLR2004 - one row has no order
        return unchanged
    sort_column = next((column for column in columns if column.sortable and column.slug == state.sort[0]), None)
    total = len(rows)
    if whole and not by and state.words:
        rows = list(_matching(rows, state.words))
    if sort_column and sort_column.slug not in by:
        rows = _sort_rows(rows, sort_column.place - 1, descending=state.sort[1])
    hidden = [column for column in columns[1:] if column.slug in state.hidden]
    hide = f' data-hide="{" ".join(str(field.place) for field in hidden)}"' if hidden else ""
    heads = "".join(_head(column, sort_column, state) for column in columns)
    body = "".join((parts[1], hide, parts[2], heads, parts[4], *rows, parts[6]))
    tools = context.environment.get_template("list_tools.html").module.tools(  # type: ignore[attr-defined]
        state,
        columns,
        sort_column,
        find=whole and not by and (total >= FIND_FROM or bool(state.words)),
        choose=len(columns) >= COLUMNS_FROM,
        shown=len(rows),
        total=total,
    )
    around = table[: parts.start()] + body + table[parts.end() :]
    name = f' id="{fragment}"' if fragment and anchor is None else ""
    return Markup(f'<div class="list"{name} data-controller="list" data-list-key="{key}">{tools}{around}</div>')  # noqa: S704


def _matching(rows: Sequence[str], words: str) -> Iterator[str]:
    parts = words.casefold().split()
    return (row for row in rows if all(part in text_of(row).casefold() for part in parts))


def _sort_rows(rows: Sequence[str], column: int, *, descending: bool) -> list[str]:
    """The rows by one column; those without a value are last."""
    keyed = [(sort_key(next(islice(_CELL.finditer(row), column, None))[1]), row) for row in rows]
    present = [(key, row) for key, row in keyed if key is not None]
    present.sort(key=itemgetter(0), reverse=descending)
    return [row for _, row in present] + [row for key, row in keyed if key is None]


def _head(column: ListColumn, sort_column: ListColumn | None, state: ListState) -> str:
    if not column.sortable:
        return f"<th{column.attributes}>{column.content}</th>"
    order = ("descending" if state.sort[1] else "ascending") if column is sort_column else ""
    link = html.escape(state.link("sort", next_order(column.slug, order)))
    sort = f' aria-sort="{order}"' if order else ""
    return f'<th{column.attributes}{sort}><a class="sort" href="{link}" data-list-link>{column.content}</a></th>'


def next_order(column: str, order: str) -> str | None:
    """The next order of a column: ascending, descending, then the page's own."""
    return {"": column, "ascending": f"-{column}"}.get(order)
