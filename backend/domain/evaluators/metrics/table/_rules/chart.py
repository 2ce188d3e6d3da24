"""`chart`: two sheets have the same charts."""

from typing import Any, Literal

from backend.domain.evaluators.metrics._verdicts import short
from backend.domain.evaluators.metrics.table._books import PairRule, SheetReference, WorkbookPair, first_reasons
from backend.domain.formats.charts import Anchor, Chart, read_charts

Property = Literal[
    "title", "legend", "anchor", "width", "height", "type", "direction", "xtitle", "ytitle", "ztitle"
]  # fmt: skip
_ROLES = {"xtitle": "x", "ytitle": "y", "ztitle": "z"}
_SIZE_STEP = 360_000  # EMU, one centimetre
_UPSTREAM_SIZE = {"width": 15, "height": 7.5}


class ChartRule(PairRule):
    """Charts are equal if they show the same data in the same order and agree in the given properties.

    Attributes:
        chart_props: properties to compare besides the data; sizes to the centimetre.
    """

    type: Literal["chart"]
    chart_props: tuple[Property, ...] = ()

    def judge(self, books: WorkbookPair) -> list[str]:
        if books.strict:
            return self._as_upstream(books)
        actual, expected = (self._charts(books, sheet) for sheet in (self.sheet_idx0, self.sheet_idx1))
        if actual is None or expected is None:
            return [books.lacks(self.sheet_idx0 if actual is None else self.sheet_idx1)]
        # As upstream, a duplicate chart counts once.
        result, gold = (set(map(self._properties, charts)) for charts in (actual, expected))
        reasons = [f"no chart is {_properties_text(chart)}" for chart in sorted(gold - result, key=str)]
        return first_reasons(
            reasons + [f"a chart is {_properties_text(chart)}" for chart in sorted(result - gold, key=str)]
        )

    def _charts(self, books: WorkbookPair, reference: SheetReference) -> list[Chart] | None:
        name = books.name(reference)
        return None if name is None else read_charts(books.book(reference), name)

    def _properties(self, chart: Chart) -> tuple[tuple[str, Any], ...]:
        data = "; ".join(
            f"{item.values} {'over' if item.of_numbers else 'by'} {item.categories}" for item in chart.series
        )
        return (("data", data), *((name, _property(chart, name)) for name in sorted(set(self.chart_props))))

    def _as_upstream(self, books: WorkbookPair) -> list[str]:
        """Charts by the data of their first plot, last one first; empty if the sheet is missing."""
        both = []
        for reference in (self.sheet_idx0, self.sheet_idx1):
            charts = self._charts(books, reference) or []
            broken = {name for chart in charts for name in self.chart_props if _breaks(chart, name)}
            if broken:
                return [f"upstream's reader fails on {', '.join(sorted(broken))} of these charts"]
            both.append(
                {_first_data(chart): tuple(_strictly(chart, name) for name in self.chart_props) for chart in charts}
            )
        return [] if both[0] == both[1] else [f"got {short(both[0])}, expected {short(both[1])}"]


def _property(chart: Chart, name: str) -> Any:
    match name:
        case "type":
            return "+".join(chart.kinds)
        case "anchor":
            return _place(chart.anchor)
        case "width" | "height":
            return round((chart.anchor.width if name == "width" else chart.anchor.height) / _SIZE_STEP)
        case "title" | "legend" | "direction":
            return getattr(chart, name)
        case _:
            return next((axis.title for axis in chart.axes if axis.role == _ROLES[name]), None)


def _place(anchor: Anchor) -> tuple[Any, ...]:
    if anchor.kind != "twoCell":
        size = (round(anchor.width / _SIZE_STEP), round(anchor.height / _SIZE_STEP))
        return anchor.kind, anchor.start, size
    return anchor.edit_as or "twoCell", anchor.start, anchor.to


def _breaks(chart: Chart, name: str) -> bool:
    """Whether upstream reads a property that such a chart does not have."""
    return (name == "direction" and chart.first_direction is None) or (
        name == "anchor" and chart.anchor.kind != "twoCell"
    )


def _first_data(chart: Chart) -> str:
    return ";".join(item.written for item in chart.series[: chart.first_series])


def _strictly(chart: Chart, name: str) -> Any:
    match name:
        case "title" | "type" | "direction" | "legend":
            known = {"title": chart.title_first_run, "type": chart.kinds[0], "direction": chart.first_direction}
            return known.get(name, chart.legend)
        case "anchor":
            start, to = chart.anchor.start or (0, 0), chart.anchor.to or (0, 0)
            return chart.anchor.edit_as, start[0], to[1], to[0], to[1]
        case "width" | "height":
            return _UPSTREAM_SIZE[name]
        case _:
            return next((axis.title_first_run for axis in chart.axes if axis.role == _ROLES[name]), None)


def _properties_text(chart: tuple[tuple[str, Any], ...]) -> str:
    return ", ".join(f"{name} {short(value)}" for name, value in chart)
