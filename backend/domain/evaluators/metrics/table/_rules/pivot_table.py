"""`pivot_table`: two sheets have the same pivot tables."""

from collections.abc import Sequence
from typing import Any, Literal

from backend.domain.evaluators.metrics._verdicts import short
from backend.domain.evaluators.metrics.table._books import PairRule, SheetReference, WorkbookPair, first_reasons
from backend.domain.formats.pivots import Pivot, PivotItem, read_pivots
from backend.domain.formats.sheet import address

Property = Literal[
    "name", "show_total", "show_empty_row", "show_empty_col", "show_headers", "location", "selection", "ordered",
    "filter", "col_fields", "row_fields", "data_fields", "data_fields_name",
]  # fmt: skip
_FLAGS = {
    "show_total": "visualTotals",
    "show_empty_row": "showEmptyRow",
    "show_empty_col": "showEmptyCol",
    "show_headers": "showHeaders",
}


class PivotTableRule(PairRule):
    """Pivot tables are equal if they have the same source data and agree in the given properties.

    Unused columns at either end of the source are ignored.

    Attributes:
        pivot_props: `filter` includes `selection` (which items are hidden), `ordered` their order, `data_fields_name`
            the names of `data_fields`.
    """

    type: Literal["pivot_table"]
    pivot_props: tuple[Property, ...] = ()

    def judge(self, books: WorkbookPair) -> list[str]:
        both = [self._tables(books, sheet) for sheet in (self.sheet_idx0, self.sheet_idx1)]
        if books.strict:
            return self._as_upstream([pivots or [] for pivots in both])
        for reference, pivots in zip((self.sheet_idx0, self.sheet_idx1), both, strict=True):
            if pivots is None:
                return [books.lacks(reference)]
        actual, expected = ([self._properties(pivot, strict=False) for pivot in pivots or ()] for pivots in both)
        reasons = [f"no pivot table is {_properties_text(pivot)}" for pivot in expected if pivot not in actual]
        return first_reasons(
            reasons + [f"a pivot table is {_properties_text(pivot)}" for pivot in actual if pivot not in expected]
        )

    def _tables(self, books: WorkbookPair, reference: SheetReference) -> list[Pivot] | None:
        name = books.name(reference)
        return None if name is None else read_pivots(books.book(reference), name)

    def _as_upstream(self, both: Sequence[Sequence[Pivot]]) -> list[str]:
        """Pivot tables by source, of which the last wins; upstream crashes on a source without an area."""
        if any(pivot.source is None for pivots in both for pivot in pivots):
            return ["upstream's reader fails on a source that is not an area"]
        actual, expected = (
            {(summary := self._properties(pivot, strict=True))[0]: summary for pivot in pivots} for pivots in both
        )
        return [] if actual == expected else [f"got {short(actual)}, expected {short(expected)}"]

    def _properties(self, pivot: Pivot, *, strict: bool) -> tuple[Any, ...]:
        used = [position for position, items in enumerate(pivot.fields) if items]
        shift = used[0] if used else len(pivot.fields)
        fields = pivot.fields[shift : used[-1] + 1] if used else ()
        unused = len(pivot.fields) - shift - len(fields)
        values = {name: self._property(pivot, name, shift) for name in self.pivot_props if name in _PLAIN}
        if {"filter", "selection"} & set(self.pivot_props):
            values["selection"] = [
                _selection(items, ordered="ordered" in self.pivot_props, strict=strict) for items in fields
            ]
        return (_source(pivot, shift, unused), tuple(sorted((name, str(value)) for name, value in values.items())))

    def _property(self, pivot: Pivot, name: str, shift: int) -> Any:
        if name in _FLAGS:
            return dict(pivot.flags)[_FLAGS[name]]
        match name:
            case "filter":
                return sorted(set(pivot.pages))
            case "col_fields" | "row_fields":
                return [number - shift for number in (pivot.columns if name == "col_fields" else pivot.rows)]
            case "data_fields":
                named = "data_fields_name" in self.pivot_props
                return [(item.field - shift, item.name * named, item.subtotal, item.show_as) for item in pivot.data]
            case _:
                return getattr(pivot, name)


_PLAIN = {*_FLAGS, "name", "location", "filter", "col_fields", "row_fields", "data_fields"}


def _source(pivot: Pivot, shift: int, unused: int) -> str:
    if pivot.source is None:
        return f"{pivot.source_type} {pivot.source_name}"
    top, left, bottom, right = pivot.source
    area = f"{address(top, left + shift)}:{address(bottom, max(1, right - unused))}"
    return f"{pivot.source_type} {pivot.source_sheet}!{area}"


def _selection(items: Sequence[PivotItem], *, ordered: bool, strict: bool) -> Any:
    """A field's items, and which are hidden.

    Applications number items differently: hidden ones are compared by value, the others by number.
    """
    pairs = [(item.hidden, item.number) for item in items]
    if ordered:
        return pairs
    if strict or not any(item.hidden for item in items):
        return sorted(set(pairs))
    return len(pairs), sorted(item.value for item in items if item.hidden)


def _properties_text(summary: tuple[Any, ...]) -> str:
    return f"of {summary[0]} with {', '.join(f'{name} {short(value)}' for name, value in summary[1])}"[:300]
