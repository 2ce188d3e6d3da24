"""Charts, drawn by plotly in the browser: only this package uses it.

It is loaded when a chart is shown.
"""

import gzip
from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from backend.services.results.views.leaderboard import BoardBreakdown, ChartValue, LeaderboardSeries

# Lightness and pattern distinguish series without hue: outcome colours mean outcomes only.
LIGHT = ("#6f6bd8", "#c3c1f0", "#8d9097", "#d9d5c8", "#4d4a9e", "#b0ada3")
DARK = ("#8a86e6", "#4a4790", "#8b8e96", "#4a4e56", "#6a66c4", "#62666e")
SHAPES = ("", "/", "", ".", "x", "\\")
PAPER = {"light": "#fffefb", "dark": "#171a1f"}
_TEXTS = frozenset({"name", "x", "theta", "text", "customdata"})
"""Attributes of a trace that hold names of tasks, labels and configurations."""
INK = {"light": ("#474b53", "#dedacf"), "dark": ("#bdbec4", "#2b3039")}


@lru_cache(maxsize=1)
def library() -> bytes:
    """Plotly's script from its Python package, gzipped. Does not import the package."""
    spec = find_spec("plotly")
    folder = Path((spec.submodule_search_locations or [""])[0]) if spec else Path()
    return gzip.compress((folder / "package_data" / "plotly.min.js").read_bytes(), compresslevel=6, mtime=0)


def library_url() -> str:
    """Its address, which changes with the installed version."""
    return f"/charts/{version('plotly')}/plotly.min.js"


def _ends(value: ChartValue | None) -> tuple[float, float]:
    if value is None or value.interval is None:
        return 0.0, 0.0
    return max(0.0, value.value - value.interval.low), max(0.0, value.interval.high - value.value)


def _bars(index: int, series: LeaderboardSeries, keys: Sequence[str], measure: str, theme: str) -> dict[str, Any]:
    palette = DARK if theme == "dark" else LIGHT
    values = [cell.value(measure) for cell in series.cells]
    ends = [_ends(value) for value in values]
    return {
        "type": "bar",
        "name": series.legend,
        "x": list(keys),
        "y": [None if value is None else value.value for value in values],
        "customdata": ["nothing scored" if value is None else value.note for value in values],
        "hovertemplate": "%{x}: %{y:.1%}<br>%{customdata}",
        "marker": {
            "color": palette[index % len(palette)],
            "pattern": {
                "shape": SHAPES[index % len(SHAPES)],
                "solidity": 0.3,
                "fillmode": "overlay",
                "fgcolor": PAPER[theme],
            },
        },
        "error_y": {
            "type": "data",
            "symmetric": False,
            "arrayminus": [low for low, _ in ends],
            "array": [high for _, high in ends],
            "color": "#1a1c20" if theme == "light" else "#eeebe3",
            "thickness": 1.2,
            "width": 3,
        },
    }


def figure(cut: BoardBreakdown, theme: str) -> dict[str, Any]:
    """A grouped bar chart with intervals, as a plotly figure. `theme`: light or dark."""
    bars = [_bars(index, series, cut.keys, cut.measure, theme) for index, series in enumerate(cut.series)]
    return shares_figure(bars, theme, {"automargin": True}, bargap=0.25, margin={"l": 48, "r": 8, "t": 8, "b": 32})


def plain(trace: Mapping[str, Any]) -> dict[str, Any]:
    """A trace whose names and notes are shown as they are: plotly makes links of `<a href>` in them."""
    return {key: _escape(value) if key in _TEXTS else value for key, value in trace.items()}


def _escape(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_escape(item) for item in value]
    return escape(value, quote=False) if isinstance(value, str) else value


def shares_figure(
    data: Sequence[Mapping[str, Any]], theme: str, xaxis: Mapping[str, Any], **layout: Any
) -> dict[str, Any]:
    """A chart with shares on its y axis, as a plotly figure.

    Args:
        data: its traces.
        theme: light or dark.
        xaxis: options of the x axis.
        layout: further options of the layout.
    """
    ink, line = INK[theme]
    axis = {"gridcolor": line, "linecolor": line, "zerolinecolor": line, "fixedrange": True}
    return {
        "data": list(map(plain, data)),
        "layout": {
            "barmode": "group",
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"color": ink, "size": 13, "family": "Plex Sans, system-ui, sans-serif"},
            "margin": {"l": 48, "r": 8, "t": 8, "b": 40},
            "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
            "xaxis": {**axis, **xaxis},
            "yaxis": {**axis, "range": [0, 1.02], "tickformat": ".0%", "dtick": 0.25},
            "hoverlabel": {"align": "left"},
            **layout,
        },
        "config": {"displayModeBar": False, "responsive": True},
    }
