"""Chart of failure labels: shares by people, and by rules."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.judging.failure_labels import LABELS, label
from backend.services.results.failure_labels import FailureSample, ShareView
from backend.web.charts import DARK, LIGHT, PAPER, SHAPES, shares_figure


def figure(draw: FailureSample, theme: str) -> dict[str, Any]:
    """A grouped bar chart with intervals, as a plotly figure. `theme`: light or dark."""
    people = f"people, n = {draw.judged}"
    rules = f"rules, n = {len(draw.episodes)}"
    bars = [_bars(0, people, draw.by_people, theme), _bars(1, rules, draw.by_rules, theme)]
    return shares_figure(bars, theme, {"automargin": True, "categoryarray": [bar.title for bar in LABELS]})


def _bars(at: int, name: str, shares: Sequence[ShareView], theme: str) -> Mapping[str, Any]:
    palette = DARK if theme == "dark" else LIGHT
    pattern = {"shape": SHAPES[at], "solidity": 0.3, "fillmode": "overlay", "fgcolor": PAPER[theme]}
    ends = [(bar.share or 0.0, bar.interval) for bar in shares]
    return {
        "type": "bar",
        "name": name,
        "x": [label(bar.label).title for bar in shares],
        "y": [bar.share for bar in shares],
        "customdata": [f"{bar.count} of {bar.n}" for bar in shares],
        "hovertemplate": "%{x}: %{y:.0%}<br>%{customdata}",
        "marker": {"color": palette[at], "pattern": pattern},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "arrayminus": [max(0.0, share - interval.low) if interval else 0.0 for share, interval in ends],
            "array": [max(0.0, interval.high - share) if interval else 0.0 for share, interval in ends],
            "color": "#1a1c20" if theme == "light" else "#eeebe3",
            "thickness": 1.2,
            "width": 3,
        },
    }
