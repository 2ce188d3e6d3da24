"""Charts of a study: steps per cell, and endings."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.studies.study import cell_words
from backend.services.studies.views import StudyResults
from backend.web.charts import DARK, INK, LIGHT, PAPER, SHAPES


def figure(results: StudyResults, chart: str, theme: str) -> dict[str, Any]:
    """A grouped bar chart of shares of episodes, one group of bars per cell, as a plotly figure."""
    keys, rows = _steps(results) if chart == "steps" else _ended(results)
    title = "steps taken" if chart == "steps" else "way of ending"
    cells = [cell_words(cell.levels) for cell in results.cells]
    series = [_bars(at, *both, keys, theme) for at, both in enumerate(zip(cells, rows, strict=True))]
    return {"data": series, "layout": _layout(title, theme), "config": {"displayModeBar": False, "responsive": True}}


def _steps(results: StudyResults) -> tuple[list[str], list[Sequence[int]]]:
    return [bar.words for bar in results.bars], [cell.by_steps for cell in results.cells]


def _ended(results: StudyResults) -> tuple[list[str], list[Sequence[int]]]:
    ways = results.ways
    return ways, [[cell.ended_by.get(way, 0) for way in ways] for cell in results.cells]


def _bars(index: int, label: str, counts: Sequence[int], keys: Sequence[str], theme: str) -> Mapping[str, Any]:
    palette, whole = DARK if theme == "dark" else LIGHT, sum(counts)
    shape = SHAPES[index % len(SHAPES)]
    pattern = {"shape": shape, "solidity": 0.3, "fillmode": "overlay", "fgcolor": PAPER[theme]}
    return {
        "type": "bar",
        "name": label,
        "x": list(keys),
        "y": [count / whole if whole else None for count in counts],
        "customdata": [f"{count} of {whole} episodes" for count in counts],
        "hovertemplate": "%{x}: %{y:.0%}<br>%{customdata}",
        "marker": {"color": palette[index % len(palette)], "pattern": pattern},
    }


def _layout(title: str, theme: str) -> dict[str, Any]:
    ink, line = INK[theme]
    axis = {"gridcolor": line, "linecolor": line, "zerolinecolor": line, "fixedrange": True}
    return {
        "barmode": "group",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": ink, "size": 13, "family": "Plex Sans, system-ui, sans-serif"},
        "margin": {"l": 48, "r": 8, "t": 8, "b": 40},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "xaxis": {**axis, "automargin": True, "type": "category", "title": {"text": title}},
        "yaxis": {**axis, "range": [0, 1.02], "tickformat": ".0%", "dtick": 0.25},
        "hoverlabel": {"align": "left"},
    }
