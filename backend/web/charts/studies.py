"""Charts of a study: steps per cell, and endings."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.studies.study import cell_label
from backend.services.studies.views.study import StudyResults
from backend.web.charts import DARK, LIGHT, PAPER, SHAPES, shares_figure


def figure(results: StudyResults, chart: str, theme: str) -> dict[str, Any]:
    """A grouped bar chart of shares of episodes, one group of bars per cell, as a plotly figure."""
    keys, rows = _steps(results) if chart == "steps" else _counts_by_end(results)
    title = "steps taken" if chart == "steps" else "way of ending"
    cells = [cell_label(cell.levels) for cell in results.cells]
    series = [_bars(at, *both, keys, theme) for at, both in enumerate(zip(cells, rows, strict=True))]
    return shares_figure(series, theme, {"automargin": True, "type": "category", "title": {"text": title}})


def _steps(results: StudyResults) -> tuple[list[str], list[Sequence[int]]]:
    return [bar.label for bar in results.bars], [cell.by_steps for cell in results.cells]


def _counts_by_end(results: StudyResults) -> tuple[list[str], list[Sequence[int]]]:
    ways = results.ways
    return ways, [[cell.ended_by.get(way, 0) for way in ways] for cell in results.cells]


def _bars(index: int, label: str, counts: Sequence[int], keys: Sequence[str], theme: str) -> Mapping[str, Any]:
    palette, total = DARK if theme == "dark" else LIGHT, sum(counts)
    shape = SHAPES[index % len(SHAPES)]
    pattern = {"shape": shape, "solidity": 0.3, "fillmode": "overlay", "fgcolor": PAPER[theme]}
    return {
        "type": "bar",
        "name": label,
        "x": list(keys),
        "y": [count / total if total else None for count in counts],
        "customdata": [f"{count} of {total} episodes" for count in counts],
        "hovertemplate": "%{x}: %{y:.0%}<br>%{customdata}",
        "marker": {"color": palette[index % len(palette)], "pattern": pattern},
    }
