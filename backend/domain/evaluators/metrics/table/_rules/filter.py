"""`filter`: two sheets have the same automatic filter."""

from typing import Any, Literal

from backend.domain.evaluators.metrics.table._books import PairRule, WorkbookPair, differences
from backend.domain.formats.json_values import number_of
from backend.domain.formats.sheet import Sheet
from backend.domain.formats.workbook import Workbook

_CONDITION = ("descending", "sortBy", "ref", "customList", "dxfId", "iconSet", "iconId")
_KNOWN = {"filters", "customFilters", "extLst"}
_WILDCARDS = {"*", "?", "~"}
_NO_FILTER = ((False, True), False, frozenset[str](), False, frozenset[tuple[str, str]](), ())


class FilterRule(PairRule):
    """The area, each column's filter, and the sorting, of the sheet's filter and those of its tables.

    Upstream ignores tables, and filters by date, colour, icon, average or rank.
    """

    type: Literal["filter"]

    def judge(self, books: WorkbookPair) -> list[str]:
        both: list[Any] = []
        for reference in (self.sheet_idx0, self.sheet_idx1):
            sheet = books.sheet(reference)
            if books.strict:
                both.append({} if sheet is None else _published_filter(sheet))
            elif sheet is None:
                return [books.lacks(reference)]
            else:
                both.append(_filters(books.book(reference), sheet))
        return differences(both[0], both[1], noun="the filter's")


def _filters(book: Workbook, sheet: Sheet) -> dict[str, Any]:
    """Area -> its filter. Every table has one: only those that hide or sort rows count."""
    tables = [book.xml(part) for kind, part in book.related(sheet.place.part).values() if kind == "table"]
    elements = [element for table in tables if table is not None for element in table.iterfind("{*}autoFilter")]
    filters = [_filter(element, element.getparent().find("{*}sortState"), strict=False) for element in elements]
    filters = [parts for parts in filters if parts.keys() != {"area"}]
    own = sheet.root.find("{*}autoFilter")
    if own is not None:
        filters.append(_filter(own, own.find("{*}sortState"), strict=False))
    return {parts.pop("area"): parts for parts in filters}


def _published_filter(sheet: Sheet) -> dict[str, Any]:
    element = sheet.root.find("{*}autoFilter")
    return {"area": None} if element is None else _filter(element, element.find("{*}sortState"), strict=True)


def _filter(element: Any, sort: Any, *, strict: bool) -> dict[str, Any]:
    area = element.get("ref") or ""
    parts: dict[str, Any] = {"area": area if strict else area.replace("$", "")}
    for item in element.iterfind("{*}filterColumn"):
        column = _column(item, strict=strict)
        if strict or column != _NO_FILTER:
            parts[f"column {item.get('colId')}"] = column
    if sort is not None:
        conditions = [tuple(item.get(name) for name in _CONDITION) for item in sort.iterfind("{*}sortCondition")]
        parts["order"] = (_is_true(sort, "columnSort"), _is_true(sort, "caseSensitive"), sort.get("ref"), conditions)
    return parts


def _column(item: Any, *, strict: bool) -> tuple[Any, ...]:
    if not strict:
        return _filter_of(item)
    buttons = (_is_true(item, "hiddenButton"), item.get("showButton", "1") in {"1", "true"})
    values, custom = item.find("{*}filters"), item.find("{*}customFilters")
    parts: list[Any] = [buttons]
    if values is not None:
        parts.append(
            (_is_true(values, "blank"), frozenset(element.get("val") for element in values.iterfind("{*}filter")))
        )
    if custom is not None:
        custom_filters = frozenset(
            (element.get("operator", "equal"), element.get("val")) for element in custom.iterfind("{*}customFilter")
        )
        parts.append((_is_true(custom, "and"), custom_filters))
    return tuple(parts)


def _filter_of(item: Any) -> tuple[Any, ...]:
    """What a column's filter shows: blank cells, values, conditions, others; a condition "equals" is a value."""
    buttons = (_is_true(item, "hiddenButton"), item.get("showButton", "1") in {"1", "true"})
    values = [element.get("val") or "" for element in item.iterfind("{*}filters/{*}filter")]
    blank = any(_is_true(element, "blank") for element in item.iterfind("{*}filters"))
    tests = [
        (element.get("operator", "equal"), _plain_number(element.get("val") or ""))
        for element in item.iterfind("{*}customFilters/{*}customFilter")
    ]
    joined = len(set(tests)) > 1 and any(_is_true(element, "and") for element in item.iterfind("{*}customFilters"))
    if not joined and all(operator == "equal" and val and not set(val) & _WILDCARDS for operator, val in tests):
        values, tests = [*values, *(val for _, val in tests)], []
    unknown = [_filter_key(element) for element in item if _name(element) not in _KNOWN]
    unknown += [_filter_key(element) for element in item.iterfind("{*}filters/{*}dateGroupItem")]
    return buttons, blank, frozenset(map(_plain_number, values)), joined, frozenset(tests), tuple(unknown)


def _plain_number(text: str) -> str:
    """A number in one form: `5.0` is `5`."""
    try:
        return f"{number_of(text):.15g}"
    except ValueError:
        return text


def _filter_key(item: Any) -> tuple[Any, ...]:
    return _name(item), tuple(sorted((str(key), str(value)) for key, value in item.items()))


def _name(item: Any) -> str:
    return str(item.tag).rpartition("}")[2]


def _is_true(item: Any, name: str) -> bool:
    return item.get(name) in {"1", "true"}
