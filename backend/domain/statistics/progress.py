"""Progress of episodes: share of parts reached by step, and what it correlates with."""

from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

BINS = ((0.0, "none"), (0.25, "up to 25 %"), (0.5, "up to 50 %"), (0.75, "up to 75 %"), (1.0, "over 75 %"))
"""Upper ends of shares of parts, with their labels; all parts have a bin of their own."""
ALL = "all"


class EpisodeProgress(NamedTuple):
    """One episode that counts.

    Attributes:
        listed: parts that it has, 1 or more.
        steps: step after which each reached part was found so, at most `listed` of them.
        score: in [0, 1].
    """

    listed: int
    steps: Sequence[int]
    score: float

    @property
    def share(self) -> float:
        """Of its parts reached."""
        return len(self.steps) / self.listed


class Point(NamedTuple):
    """Number of parts reached after that step."""

    step: int
    reached: int
    share: float


class Bin(NamedTuple):
    """Episodes by share of reached parts: their number and mean score."""

    label: str
    episodes: int
    score: float | None


def curve(episodes: Sequence[EpisodeProgress]) -> list[Point]:
    """Share of the parts of all episodes together that were reached by each step, from 0 to the last that counts."""
    listed = sum(episode.listed for episode in episodes)
    if not listed:
        return []
    by_step: dict[int, int] = {}
    for episode in episodes:
        for step in episode.steps:
            by_step[step] = by_step.get(step, 0) + 1
    points, reached = [], 0
    for step in range(max(by_step, default=0) + 1):
        reached += by_step.get(step, 0)
        points.append(Point(step, reached, reached / listed))
    return points


def bins(episodes: Sequence[EpisodeProgress]) -> list[Bin]:
    """Episodes by the share of their parts that they reached."""
    scores: dict[str, list[float]] = {label: [] for label in (*(label for _, label in BINS), ALL)}
    for episode in episodes:
        scores[_label(episode.share)].append(episode.score)
    return [Bin(label, len(values), fmean(values) if values else None) for label, values in scores.items()]


def _label(share: float) -> str:
    return ALL if share >= 1 else next(label for end, label in BINS if share <= end)
