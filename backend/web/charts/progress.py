"""Charts of progress: shares of parts by step, and completion by progress."""

from typing import Any

from backend.services.runs.views.progress import Processes
from backend.web.charts import DARK, INK, LIGHT, PAPER, SHAPES
from backend.web.charts.radar import DASHES, LINES


def figure(processes: Processes, chart: str, theme: str) -> dict[str, Any]:
    """`curve` or `bins`, as a plotly figure. `theme`: light or dark."""
    ink, line = INK[theme]
    axis = {"gridcolor": line, "linecolor": line, "zerolinecolor": line, "fixedrange": True, "automargin": True}
    title = "step" if chart == "curve" else "share of its parts that an episode reached"
    across = {**axis, "title": {"text": title}} | (
        {"rangemode": "tozero"} if chart == "curve" else {"type": "category"}
    )
    return {
        "data": _lines(processes, theme) if chart == "curve" else _bars(processes, theme),
        "layout": {
            "barmode": "group",
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"color": ink, "size": 13, "family": "Plex Sans, system-ui, sans-serif"},
            "margin": {"l": 48, "r": 8, "t": 8, "b": 40},
            "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
            "xaxis": across,
            "yaxis": {**axis, "range": [0, 1.02], "tickformat": ".0%", "dtick": 0.25},
            "hoverlabel": {"align": "left"},
        },
        "config": {"displayModeBar": False, "responsive": True},
    }


def _lines(processes: Processes, theme: str) -> list[dict[str, Any]]:
    last = max((len(run.curve) for run in processes.runs), default=1) - 1
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "name": run.label,
            "x": [*(point.step for point in run.curve), last],
            "y": [*(point.share for point in run.curve), run.curve[-1].share],
            "customdata": [*(f"{point.reached} of {run.parts} parts" for point in run.curve), "then no more"],
            "hovertemplate": "by step %{x}: %{y:.1%}<br>%{customdata}",
            "line": {"shape": "hv", "width": 2, "color": LINES[theme][at], "dash": DASHES[at]},
        }
        for at, run in enumerate(processes.runs)
        if run.curve
    ]


def _bars(processes: Processes, theme: str) -> list[dict[str, Any]]:
    palette = DARK if theme == "dark" else LIGHT
    return [
        {
            "type": "bar",
            "name": run.label,
            "x": [one.words for one in run.bins],
            "y": [one.episodes / run.episodes if run.episodes else None for one in run.bins],
            "customdata": [
                f"{one.episodes} episodes" + (f", mean score {one.score:.0%}" if one.score is not None else "")
                for one in run.bins
            ],
            "hovertemplate": "%{x}: %{y:.0%} of the episodes<br>%{customdata}",
            "marker": {
                "color": palette[at],
                "pattern": {"shape": SHAPES[at], "solidity": 0.3, "fillmode": "overlay", "fgcolor": PAPER[theme]},
            },
        }
        for at, run in enumerate(processes.runs)
    ]
