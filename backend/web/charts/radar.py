"""A radar of capabilities: one closed line per agent configuration."""

from collections.abc import Mapping
from typing import Any

from backend.domain.model.omnibench_labels import CAPABILITIES
from backend.services.results.views.leaderboard import BoardBreakdown, LeaderboardSeries
from backend.web.charts import INK, plain

# Lines are thinner than bars and need more contrast; dashes and symbols distinguish them without hue.
LINES = {
    "light": ("#4d4a9e", "#474b53", "#8a86e6", "#7a7266", "#2f2c78", "#6c6f76"),
    "dark": ("#a5a2f2", "#eeebe3", "#6f6bd8", "#b0ada3", "#c3c1f0", "#8b8e96"),
}
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross")


def figure(cut: BoardBreakdown, theme: str) -> dict[str, Any]:
    """The radar as a plotly figure. `theme`: light or dark."""
    ink, line = INK[theme]
    axis = {"gridcolor": line, "linecolor": line}
    layout = {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": ink, "size": 13, "family": "Plex Sans, system-ui, sans-serif"},
        "margin": {"l": 48, "r": 48, "t": 32, "b": 32},
        "legend": {"orientation": "h", "y": -0.08, "yanchor": "top", "x": 0},
        "polar": {
            "bgcolor": "rgba(0,0,0,0)",
            "radialaxis": {
                **axis,
                "range": [0, 1],
                "tickformat": ".0%",
                "dtick": 0.25,
                "angle": 90,
                "tickangle": 90,
                "tickfont": {"size": 11},
            },
            "angularaxis": {**axis, "direction": "clockwise", "rotation": 90},
        },
    }
    lines = [plain(_line(at, series, cut, theme)) for at, series in enumerate(cut.series)]
    return {"data": lines, "layout": layout, "config": {"displayModeBar": False, "responsive": True}}


def _line(at: int, series: LeaderboardSeries, cut: BoardBreakdown, theme: str) -> Mapping[str, Any]:
    palette = LINES[theme]
    values = [cell.value(cut.measure) for cell in series.cells]
    closed = [*range(len(values)), 0] if values else []
    notes = ["nothing scored" if value is None else value.note for value in values]
    names = [CAPABILITIES.get(key, key) for key in cut.keys]
    return {
        "type": "scatterpolar",
        "name": series.legend,
        "mode": "lines+markers",
        "theta": [cut.keys[index] for index in closed],
        "r": [None if (value := values[index]) is None else value.value for index in closed],
        "customdata": [[names[index], notes[index]] for index in closed],
        "hovertemplate": "%{customdata[0]}: %{r:.1%}<br>%{customdata[1]}",
        "line": {"color": palette[at % len(palette)], "dash": DASHES[at % len(DASHES)], "width": 2},
        "marker": {"symbol": SYMBOLS[at % len(SYMBOLS)], "size": 7},
    }
