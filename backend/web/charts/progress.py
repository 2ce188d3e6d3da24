"""Charts of progress: shares of parts by step, and completion by progress."""

from typing import Any

from backend.services.runs.views.progress import Processes
from backend.web.charts import DARK, LIGHT, PAPER, SHAPES, shares_figure
from backend.web.charts.radar import DASHES, LINES


def figure(processes: Processes, chart: str, theme: str) -> dict[str, Any]:
    """`curve` or `bins`, as a plotly figure. `theme`: light or dark."""
    title = "step" if chart == "curve" else "share of its parts that an episode reached"
    across = {"rangemode": "tozero"} if chart == "curve" else {"type": "category"}
    data = _lines(processes, theme) if chart == "curve" else _bars(processes, theme)
    chart_figure = shares_figure(data, theme, {"automargin": True, "title": {"text": title}, **across})
    chart_figure["layout"]["yaxis"]["automargin"] = True
    return chart_figure


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
            "x": [progress_bin.label for progress_bin in run.bins],
            "y": [progress_bin.episodes / run.episodes if run.episodes else None for progress_bin in run.bins],
            "customdata": [
                f"{progress_bin.episodes} episodes"
                + (f", mean score {progress_bin.score:.0%}" if progress_bin.score is not None else "")
                for progress_bin in run.bins
            ],
            "hovertemplate": "%{x}: %{y:.0%} of the episodes<br>%{customdata}",
            "marker": {
                "color": palette[at],
                "pattern": {"shape": SHAPES[at], "solidity": 0.3, "fillmode": "overlay", "fgcolor": PAPER[theme]},
            },
        }
        for at, run in enumerate(processes.runs)
    ]
