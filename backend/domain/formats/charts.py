"""Reads the charts of a workbook's sheets, DrawingML (ECMA-376 part 1, 20.5 and 21.2).

Normalises the differences between Excel, LibreOffice and openpyxl: quotes of sheet names in formulas, LibreOffice's
several plots of one kind and its word `categories` for missing ones, anchors by one cell or two.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from backend.domain.formats.workbook import Workbook, relation

EMU_PER_PIXEL = 9525
_PLAIN_WIDTH, _PLAIN_HEIGHT = 64, 20  # default size of a column and a row in pixels
_HORIZONTAL_AXES = {"catAx", "dateAx"}


@dataclass(frozen=True)
class Anchor:
    """Position of a chart: cells from 0; `to` is None unless it is anchored to two cells. Sizes in EMU.

    Attributes:
        kind: `oneCell`, `twoCell` or `absolute`.
        edit_as: how a two-cell anchor follows its cells.
    """

    kind: str
    edit_as: str | None = None
    start: tuple[int, int] | None = None
    to: tuple[int, int] | None = None
    width: int = 0
    height: int = 0


@dataclass(frozen=True)
class Axis:
    """An axis: `role` is `x`, `y` or `z`."""

    role: str
    title: str | None
    title_first_run: str | None


@dataclass(frozen=True)
class ChartSeries:
    """References of one series: its values (or y values) and categories (or x values).

    They are in lower case, as the case of a sheet's name does not count. `written` is their spelling in the file, which
    upstream compares. Upstream does not support scatter plots, whose x values are numbers (`of_numbers`).
    """

    values: str
    categories: str
    written: str
    of_numbers: bool = False


@dataclass(frozen=True)
class Chart:
    """One chart.

    Attributes:
        kinds: distinct kinds of its plots, in order: `barChart`, `lineChart`, ...
        direction: direction of its first bar plot, `bar` or `col`; None without one.
        first_series: number of `series` in the first plot.
        first_direction: direction of the first plot; None if it has none.
        legend: its place (`b`, `tr`, `l`, `r`, `t`), None without a legend.
    """

    kinds: tuple[str, ...]
    series: tuple[ChartSeries, ...]
    first_series: int
    direction: str | None
    first_direction: str | None
    title: str | None
    title_first_run: str | None
    legend: str | None
    axes: tuple[Axis, ...]
    anchor: Anchor


def read_charts(book: Workbook, sheet: str) -> list[Chart] | None:
    """The charts of a worksheet or chart sheet in the order of its drawing; None if the sheet does not exist."""
    reference = book.place(sheet)
    if reference is None:
        return None
    charts = []
    for kind, drawing in book.related(reference.part).values():
        if kind == "drawing":
            charts += list(_drawing_charts(book, drawing))
    return charts


def reference(formula: str | None) -> str:
    """A reference in normal form: no `$`, no unnecessary quotes; "" for LibreOffice's `categories`."""
    text = (formula or "").strip().replace("$", "")
    if text == "categories":
        return ""
    if text.startswith("'"):
        name, mark, area = text[1:].rpartition("'!")
        text = f"{name.replace(chr(39) * 2, chr(39))}!{area}" if mark else text
    return text


def _drawing_charts(book: Workbook, drawing: str) -> Iterator[Chart]:
    root = book.xml(drawing)
    related = book.related(drawing)
    for anchor in () if root is None else root:
        for graphic in anchor.iterfind(".//{*}graphicData/{*}chart"):
            kind, part = related.get(relation(graphic), ("", ""))
            space = book.xml(part) if kind == "chart" else None
            chart = None if space is None else _chart(space, _anchor(anchor))
            if chart is not None:
                yield chart


def _anchor(element: Any) -> Anchor:
    start, to = _corner(element, "from"), _corner(element, "to")
    size = element.find("{*}ext")
    if start is not None and to is not None:
        drawn = element.find(".//{*}xfrm/{*}ext")
        width, height = _size(drawn)
        width = width or (to[0] - start[0]) * _PLAIN_WIDTH * EMU_PER_PIXEL
        height = height or (to[1] - start[1]) * _PLAIN_HEIGHT * EMU_PER_PIXEL
        return Anchor("twoCell", element.get("editAs"), start, to, width, height)
    kind = "oneCell" if start is not None else "absolute"
    return Anchor(kind, None, start, None, *_size(size))


def _corner(element: Any, name: str) -> tuple[int, int] | None:
    corner = element.find(f"{{*}}{name}")
    return None if corner is None else (_whole(corner.findtext("{*}col")), _whole(corner.findtext("{*}row")))


def _size(element: Any) -> tuple[int, int]:
    return (0, 0) if element is None else (_whole(element.get("cx")), _whole(element.get("cy")))


def _chart(space: Any, anchor: Anchor) -> Chart | None:
    area = space.find("{*}chart/{*}plotArea")
    plots = [] if area is None else [item for item in area if _name(item).endswith("Chart")]
    if not plots:
        return None
    series = [[_series(item) for item in plot.iterfind("{*}ser")] for plot in plots]
    directions = [_value(plot, "barDir") for plot in plots]
    legend, title = space.find("{*}chart/{*}legend"), space.find("{*}chart/{*}title")
    return Chart(
        kinds=tuple(dict.fromkeys(map(_name, plots))),
        series=tuple(item for plot in series for item in plot),
        first_series=len(series[0]),
        direction=next((direction for direction in directions if direction is not None), None),
        first_direction=directions[0],
        title=_title(title),
        title_first_run=_first_run(title),
        legend=None if legend is None else _value(legend, "legendPos") or "r",
        axes=tuple(_axes(area, plots[0])),
        anchor=anchor,
    )


def _series(item: Any) -> ChartSeries:
    values, categories = _source(item, "val"), _source(item, "cat")
    return ChartSeries(
        values=reference(values or _source(item, "yVal")).lower(),
        categories=reference(categories or _source(item, "xVal")).lower(),
        written=f"{values},{categories}",
        of_numbers=item.find("{*}yVal") is not None,
    )


def _source(item: Any, name: str) -> str:
    kinds = ("numRef", "strRef", "multiLvlStrRef")
    formulas = (item.findtext(f"{{*}}{name}/{{*}}{kind}/{{*}}f") for kind in kinds)
    return next((formula for formula in formulas if formula is not None), "")


def _axes(area: Any, plot: Any) -> Iterator[Axis]:
    """The axes of a plot. A scatter plot has two value axes, of which the first is x."""
    axis_ids = [item.get("val") for item in plot.iterfind("{*}axId")]
    axis_elements = {_value(item, "axId"): item for item in area if _name(item).endswith("Ax")}
    axes = [axis_elements[number] for number in axis_ids if number in axis_elements]
    numeric = _name(plot) in {"scatterChart", "bubbleChart"}
    for position, item in enumerate(axes):
        name = _name(item)
        role = "x" if name in _HORIZONTAL_AXES or (numeric and position == 0) else "z" if name == "serAx" else "y"
        title = item.find("{*}title")
        yield Axis(role, _title(title), _first_run(title))


def _title(element: Any) -> str | None:
    """The text of a title: its runs, or its formula's value."""
    if element is None:
        return None
    paragraphs = element.findall("{*}tx/{*}rich/{*}p")
    lines = ["".join(part.text or "" for part in item.iterfind("*/{*}t")) for item in paragraphs]
    if not paragraphs:
        lines = [part.text or "" for part in element.iterfind("{*}tx/{*}strRef/{*}strCache/{*}pt/{*}v")]
    return "\n".join(lines).strip() or None


def _first_run(element: Any) -> str | None:
    first = None if element is None else element.find("{*}tx/{*}rich/{*}p")
    run = None if first is None else first.find("{*}r/{*}t")
    return None if run is None else run.text


def _name(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _value(element: Any, name: str) -> str | None:
    child = element.find(f"{{*}}{name}")
    return None if child is None else child.get("val")


def _whole(text: str | None) -> int:
    try:
        return int(text or 0)
    except ValueError:
        return 0
