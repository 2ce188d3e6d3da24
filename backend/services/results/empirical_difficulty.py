"""Difficulty of tasks by how often agents solve them (protocols reference, section 2)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from statistics import fmean

from sqlalchemy.orm import Session

from backend.db.models import Task
from backend.db.repositories.benchmarks import tasks as task_repository
from backend.db.repositories.results import leaderboards as board_repository
from backend.db.repositories.results import solve_rates as repository
from backend.domain.errors import Conflict
from backend.domain.formats.foreign_text import csv_text
from backend.domain.model.task import Difficulty, DifficultySource
from backend.domain.statistics.correlation import ranked
from backend.services.benchmarks.benchmarks import get_benchmark, latest_task_set
from backend.services.benchmarks.labels import import_labels

LABEL, DATE_LABEL = "empirical_difficulty", "empirical_difficulty_on"
_HARDEST_FIRST = (Difficulty.HARD, Difficulty.MEDIUM, Difficulty.EASY)


def label_by_solve_rate(session: Session, benchmark: str) -> tuple[int, int]:
    """Labels the tasks that agents were measured on with the tercile of their solve rate, and with today's date.

    The rate is the mean over configurations of the newest version that has results. People, agents that see the task,
    and floors do not count. Every such task gets the labels `empirical_difficulty` and `empirical_difficulty_on`; as
    its difficulty the tercile is stored only where there is none of another source.

    Returns:
        Number of labelled tasks, and number of changed task rows.

    Raises:
        NotFound: There is no such benchmark.
        Conflict: No agent was measured on it.
    """
    measured = board_repository.newest_with_runs(session, get_benchmark(session, benchmark).id)
    by_task: dict[str, list[float]] = defaultdict(list)
    for row in repository.solve_rates(session, measured.id) if measured else ():
        by_task[row.key].append(row.rate)
    newest = task_repository.all_of(session, latest_task_set(session, benchmark).id)
    rows = _rows(newest, terciles({key: fmean(rates) for key, rates in by_task.items()}), datetime.now(UTC).date())
    if not rows:
        raise Conflict(
            f"no agent was measured on the tasks of {benchmark!r}",
            code="no_measured_result",
            hint="Submit a run of an agent that does not see the tasks.",
        )
    return import_labels(session, benchmark, _as_csv(rows))


def terciles(rates: Mapping[str, float]) -> dict[str, Difficulty]:
    """Difficulty by task: the third that is solved least often is hard. Equal rates have equal difficulties."""
    ranks = ranked(list(rates.values()))
    return {key: _HARDEST_FIRST[int(3 * (rank - 0.5) / len(rates))] for key, rank in zip(rates, ranks, strict=True)}


def _rows(tasks: Iterable[Task], by_task: Mapping[str, Difficulty], today: date) -> list[dict[str, str]]:
    rows = []
    for task in tasks:
        if task.key in by_task:
            difficulty = by_task[task.key].value
            row = {"task": task.key, f"label:{LABEL}": difficulty, f"label:{DATE_LABEL}": today.isoformat()}
            if task.difficulty_source in {None, DifficultySource.EMPIRICAL}:
                row |= {"difficulty": difficulty, "source": DifficultySource.EMPIRICAL.value}
            rows.append(row)
    return rows


def _as_csv(rows: Sequence[Mapping[str, str]]) -> str:
    head = ["task", "difficulty", "source", f"label:{LABEL}", f"label:{DATE_LABEL}"]
    return csv_text(head, ([row.get(name, "") for name in head] for row in rows))
