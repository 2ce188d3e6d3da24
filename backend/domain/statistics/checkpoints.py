"""WindowsWorld's analyses: how far agents got against what they finished, by level, persona, number of applications.

Source: protocols reference, section 7. Our own choices, where the paper has none, are documented. Undefined values are
    None and enter no mean.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

REACHING = ("L1", "L2", "L3")
"""Levels whose tasks have an S_int; L4 cannot be done."""


class ScoredEpisode(NamedTuple):
    """One scored episode.

    Attributes:
        task: identity of its task: repeats share it.
        level, persona: labels of the task.
        apps: number of applications that it is about.
        steps: that the agent took.
        solved: score 1.
        s_int: checkpoints reached / listed; None for a task without checkpoints.
        listed: checkpoints of the task.
        s_final: 1 if the end state is right, else 0; None where that was not judged.
    """

    task: str
    level: str
    persona: str
    apps: int
    steps: int
    solved: bool
    s_int: float | None
    listed: int
    s_final: float | None


class Mean(NamedTuple):
    """A mean over tasks, each task by the mean of its episodes."""

    value: float
    tasks: int


class Gap(NamedTuple):
    """Gap between intermediate and final score: S_int - S_final over the tasks that have both."""

    key: str
    s_int: float
    s_final: float
    tasks: int

    @property
    def difference(self) -> float:
        """In [-1, 1]."""
        return self.s_int - self.s_final


class StepGap(NamedTuple):
    """Mean steps of failed and of solved episodes of one level; None without such episodes."""

    level: str
    failed: float | None
    solved: float | None
    episodes: int

    @property
    def difference(self) -> float | None:
        """Failed minus solved; None where one of the two is missing."""
        return None if self.failed is None or self.solved is None else self.failed - self.solved


class LanguageGap(NamedTuple):
    """Chinese against English instructions over the tasks that were done in both.

    Attributes:
        en, cn: S_int and S_final as pairs; None where no common task has it.
        tasks: common tasks.
    """

    level: str
    en: tuple[float | None, float | None]
    cn: tuple[float | None, float | None]
    tasks: int

    @property
    def differences(self) -> tuple[float | None, float | None]:
        """Chinese minus English, of S_int and of S_final."""
        first, second = (None if b is None or a is None else b - a for a, b in zip(self.en, self.cn, strict=True))
        return first, second


def agent_s_int(rows: Iterable[ScoredEpisode]) -> Mean | None:
    """S_int of an agent: the mean over its tasks of L1 to L3 (ours: over tasks, not over checkpoints)."""
    return _over_tasks([(row.task, row.s_int) for row in rows if row.level in REACHING])


def pooled_s_int(rows: Iterable[ScoredEpisode]) -> float | None:
    """Checkpoints reached / checkpoints listed over all episodes of L1 to L3 together; None without a checkpoint."""
    counted = [(row.s_int * row.listed, row.listed) for row in rows if row.level in REACHING and row.s_int is not None]
    listed = sum(number for _, number in counted)
    return math.fsum(reached for reached, _ in counted) / listed if listed else None


def agent_s_final(rows: Iterable[ScoredEpisode]) -> Mean | None:
    """S_final of an agent: the share of its tasks of L1 to L4 whose end state is right."""
    return _over_tasks([(row.task, row.s_final) for row in rows])


def gaps(rows: Sequence[ScoredEpisode], key: Callable[[ScoredEpisode], str]) -> list[Gap]:
    """S_int - S_final for each group of tasks, over those that have both; groups in the order of their keys.

    Args:
        rows: of one agent.
        key: the group of an episode: its level, persona or number of applications.
    """
    both = [row for row in rows if row.level in REACHING and row.s_int is not None and row.s_final is not None]
    gaps = []
    for group in sorted({key(row) for row in both}):
        members = [row for row in both if key(row) == group]
        s_int = _over_tasks([(row.task, row.s_int) for row in members])
        s_final = _over_tasks([(row.task, row.s_final) for row in members])
        if s_int is not None and s_final is not None:
            gaps.append(Gap(group, s_int.value, s_final.value, s_int.tasks))
    return gaps


def step_gaps(rows: Sequence[ScoredEpisode]) -> list[StepGap]:
    """Mean steps of failed episodes minus those of solved ones, per level."""
    gaps = []
    for level in sorted({row.level for row in rows}):
        members = [row for row in rows if row.level == level]
        failed, solved = ([row.steps for row in members if row.solved is outcome] for outcome in (False, True))
        gaps.append(StepGap(level, _mean(failed), _mean(solved), len(members)))
    return gaps


def language_gaps(en: Sequence[ScoredEpisode], cn: Sequence[ScoredEpisode]) -> list[LanguageGap]:
    """Both languages per level, over the tasks that both runs have a scored episode of."""
    common = {row.task for row in en} & {row.task for row in cn}
    gaps = []
    for level in sorted({row.level for row in (*en, *cn) if row.task in common}):
        pair = [[row for row in rows if row.task in common and row.level == level] for rows in (en, cn)]
        tasks = len({row.task for row in pair[0]})
        s_int = _paired_means([[(row.task, row.s_int) for row in rows if row.level in REACHING] for rows in pair])
        s_final = _paired_means([[(row.task, row.s_final) for row in rows] for rows in pair])
        gaps.append(LanguageGap(level, (s_int[0], s_final[0]), (s_int[1], s_final[1]), tasks))
    return gaps


def _paired_means(sides: Sequence[Sequence[tuple[str, float | None]]]) -> list[float | None]:
    """The mean of each side over the tasks that have a value on every side."""
    common = set.intersection(*({task for task, value in side if value is not None} for side in sides))
    means = [_over_tasks([(task, value) for task, value in side if task in common]) for side in sides]
    return [None if mean is None else mean.value for mean in means]


def _over_tasks(values: Iterable[tuple[str, float | None]]) -> Mean | None:
    """The mean over tasks of the means over their episodes; None where no value is defined."""
    by_task: dict[str, list[float]] = {}
    for task, value in values:
        if value is not None:
            by_task.setdefault(task, []).append(value)
    if not by_task:
        return None
    means = [math.fsum(scores) / len(scores) for scores in by_task.values()]
    return Mean(math.fsum(means) / len(means), len(means))


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
