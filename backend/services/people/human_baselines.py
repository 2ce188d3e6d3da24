"""Results of people: means by domain, correlations, task labels (protocols of WAA and OSWorld)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import fmean, median
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.people import human_agent as repository
from backend.domain.errors import Conflict
from backend.domain.formats.foreign_text import csv_text
from backend.domain.model.task import Difficulty, DifficultySource
from backend.domain.statistics.correlation import spearman
from backend.services.benchmarks.benchmarks import list_task_sets
from backend.services.benchmarks.labels import import_labels
from backend.services.lifecycle.human_runs import seconds_of

ALL = "all domains"
_BY_RATING = (Difficulty.EASY, Difficulty.MEDIUM, Difficulty.HARD)


class LabelBasis(StrEnum):
    """Basis of a label."""

    TIME = "time"
    RATING = "rating"


@dataclass(frozen=True)
class HumanTrial:
    """One task done by a person once.

    Attributes:
        steps: of the attempt; of the second try if only that one was solved.
        seconds: of the attempt.
        rating: 1 to 3; None = not rated.
        solved_on_retry: the second try solved it, so `steps` are those of a solution.
        labels: of the task.
    """

    run_id: UUID
    task: str
    domain: str
    solved: bool
    score: float
    steps: int
    seconds: float
    rating: int | None
    solved_on_retry: bool = False
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Means:
    """Means of trials; None without measurements."""

    trials: int
    steps: float | None
    seconds: float | None
    success: float | None
    rating: float | None
    rated: int


@dataclass(frozen=True)
class DifficultyCorrelation:
    """Spearman's coefficient over tasks, and their number."""

    value: float | None
    n: int


@dataclass(frozen=True)
class DomainRow:
    """One domain, or all of them."""

    domain: str
    means: Means
    tasks: int
    steps_difficulty: DifficultyCorrelation
    steps_success: DifficultyCorrelation
    success_difficulty: DifficultyCorrelation


def trial(row: AnyRow) -> HumanTrial:
    """One scored episode of a person."""
    answers: Mapping[str, Any] = row.Attempt.human_feedback or {}
    again = answers.get("second_try") or {}
    learned = not row.Episode.solved and bool(again.get("solved"))
    return HumanTrial(
        run_id=row.run_id,
        task=row.Task.key,
        domain=row.Task.domain,
        solved=bool(row.Episode.solved),
        score=float(row.Episode.score or 0.0),
        steps=int(again["steps"] if learned else row.Episode.steps),
        seconds=seconds_of(row.Attempt.seconds),
        rating=answers.get("rating"),
        solved_on_retry=learned,
        labels=row.Task.labels,
    )


def trials(session: Session, task_set_id: UUID) -> list[HumanTrial]:
    """All trials by people on a task set."""
    return [trial(row) for row in repository.of_task_set(session, task_set_id)]


def means(trials: Sequence[HumanTrial]) -> Means:
    """Means over trials."""
    ratings = [trial.rating for trial in trials if trial.rating is not None]
    return Means(
        trials=len(trials),
        steps=fmean(trial.steps for trial in trials) if trials else None,
        seconds=fmean(trial.seconds for trial in trials) if trials else None,
        success=fmean(trial.solved for trial in trials) if trials else None,
        rating=fmean(ratings) if ratings else None,
        rated=len(ratings),
    )


def by_run(trials: Iterable[HumanTrial]) -> dict[UUID, Means]:
    """Means per run."""
    groups: dict[UUID, list[HumanTrial]] = {}
    for trial in trials:
        groups.setdefault(trial.run_id, []).append(trial)
    return {run_id: means(group) for run_id, group in groups.items()}


def by_domain(trials: Sequence[HumanTrial]) -> list[DomainRow]:
    """One row per domain, after one for all together; empty without trials."""
    if not trials:
        return []
    domains = sorted({trial.domain for trial in trials})
    parts = [(ALL, trials)] if len(domains) > 1 else []
    parts += [(name, [trial for trial in trials if trial.domain == name]) for name in domains]
    return [domain_row(name, part) for name, part in parts]


def domain_row(name: str, trials: Sequence[HumanTrial]) -> DomainRow:
    """Means and correlations over these trials; each task counts once in a correlation."""
    tasks = [
        means([trial for trial in trials if trial.task == task]) for task in sorted({trial.task for trial in trials})
    ]
    return DomainRow(
        domain=name,
        means=means(trials),
        tasks=len(tasks),
        steps_difficulty=_correlate([(task.steps, task.rating) for task in tasks]),
        steps_success=_correlate([(task.steps, task.success) for task in tasks]),
        success_difficulty=_correlate([(task.success, task.rating) for task in tasks]),
    )


def _correlate(pairs: Sequence[tuple[float | None, float | None]]) -> DifficultyCorrelation:
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    return DifficultyCorrelation(spearman([a for a, _ in both], [b for _, b in both]), len(both))


def label_tasks(session: Session, benchmark: str, by: LabelBasis) -> tuple[int, int]:
    """Writes people's results as labels: median steps and seconds of those who solved the task, and a difficulty.

    The difficulty is OSWorld's by median time, or the median of WAA's ratings (halves count as harder).

    Returns:
        Number of tasks with a label by people, and number of changed task rows.

    Raises:
        NotFound: There is no such benchmark.
        Conflict: There are no suitable results by people.
    """
    sets = [row.id for row in list_task_sets(session, benchmark)]
    rows = labels([trial(row) for row in repository.of_tasks(session, sets)], by)
    if not rows:
        needed = "solved a task" if by is LabelBasis.TIME else "rated a task"
        raise Conflict(
            f"no person has {needed} of {benchmark!r}",
            code="no_human_result",
            hint="Submit a run of the agent `human`.",
        )
    return import_labels(session, benchmark, as_csv(rows))


def labels(trials: Sequence[HumanTrial], by: LabelBasis) -> list[dict[str, Any]]:
    """Rows for `import_labels`, by task."""
    rows = []
    for task in sorted({trial.task for trial in trials}):
        of_task = [trial for trial in trials if trial.task == task]
        solved = [trial for trial in of_task if trial.solved]
        stepped = [trial for trial in of_task if trial.solved or trial.solved_on_retry]
        ratings = [trial.rating for trial in of_task if trial.rating is not None]
        row: dict[str, Any] = {"task": task}
        if solved:
            row["human_seconds"] = round(median(trial.seconds for trial in solved), 3)
        if stepped:
            row["human_steps"] = round(median(trial.steps for trial in stepped))
        if by is LabelBasis.RATING and ratings:
            row["difficulty"] = _BY_RATING[int(median(ratings) + 0.5) - 1].value
            row["source"] = DifficultySource.HUMAN_RATING.value
        if (by is LabelBasis.TIME and solved) or (by is LabelBasis.RATING and ratings):
            row.setdefault("source", DifficultySource.HUMAN_TIME.value)
            rows.append(row)
    return rows


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as the CSV of imported labels."""
    head = ["task", "difficulty", "source", "human_seconds", "human_steps"]
    return csv_text(head, ([row.get(name, "") for name in head] for row in rows))
