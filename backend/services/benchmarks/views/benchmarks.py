"""Views of benchmarks and tasks: content, soundness, results."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Task
from backend.db.models.enums import VALIDATION_AGENTS
from backend.db.repositories.benchmarks import benchmarks_view as repository
from backend.db.repositories.common_queries import AnyRow
from backend.domain.errors import NotFound
from backend.domain.model.outcome_style import StateStyle, state_of
from backend.domain.model.score import is_solved
from backend.services.capacity.views.capabilities import RunOptions, abilities
from backend.services.runs.validation import wrongs
from backend.services.runs.views.run_page import DIFFICULTIES, UNLABELLED

PAGE = 100
HISTORY = 40
LOCAL = "local"


@dataclass(frozen=True)
class TaskCounts:
    """Tasks by domain and difficulty."""

    domains: list[str]
    difficulties: list[str]
    cells: Mapping[tuple[str, str], int]

    @property
    def total(self) -> int:
        return sum(self.cells.values())

    def of_domain(self, domain: str) -> int:
        """Tasks of a domain."""
        return sum(count for (each, _), count in self.cells.items() if each == domain)

    def of_difficulty(self, difficulty: str) -> int:
        """Tasks of a difficulty."""
        return sum(count for (_, each), count in self.cells.items() if each == difficulty)


def task_counts(rows: Sequence[AnyRow]) -> TaskCounts:
    """From (domain, difficulty, n)."""
    cells = {(row.domain, row.difficulty or UNLABELLED): row.n for row in rows}
    present = {difficulty for _, difficulty in cells}
    names = [str(difficulty) for difficulty in DIFFICULTIES if difficulty in present]
    return TaskCounts(sorted({domain for domain, _ in cells}), names, cells)


@dataclass(frozen=True)
class BenchmarkRow:
    """One benchmark in the list."""

    name: str
    title: str
    kind: str
    licence: str
    version: int | None
    tasks: TaskCounts
    runs: int
    warnings: int


def benchmark_list(session: Session) -> list[BenchmarkRow]:
    """Every benchmark at its newest version."""
    return [
        BenchmarkRow(
            name=row.Benchmark.name,
            title=row.Benchmark.title,
            kind=row.Benchmark.kind,
            licence=row.Benchmark.licence,
            version=row.TaskSet.version if row.TaskSet else None,
            tasks=task_counts(repository.counts(session, row.TaskSet.id) if row.TaskSet else []),
            runs=row.runs,
            warnings=len(row.TaskSet.warnings) if row.TaskSet else 0,
        )
        for row in repository.benchmarks(session)
    ]


@dataclass(frozen=True)
class Checks:
    """Scores of the three validation agents on one task; None = no result yet."""

    feasible: bool
    scores: Mapping[str, float | None]
    outcomes: Mapping[str, str]
    at: datetime | None

    @property
    def wrong(self) -> list[str] | None:
        """Problems of the task; None until all three agents have a score."""
        scores = {agent: self.scores.get(agent) for agent in VALIDATION_AGENTS}
        if any(score is None for score in scores.values()):
            return None
        return wrongs(feasible=self.feasible, scores={agent: score or 0.0 for agent, score in scores.items()})

    @property
    def sound(self) -> bool | None:
        """Whether the task is sound; None until known."""
        return None if self.wrong is None else not self.wrong


@dataclass(frozen=True)
class TaskRow:
    """One task in a list."""

    id: UUID
    task: str
    domain: str
    instruction: str
    difficulty: str
    difficulty_source: str
    level: str | None
    feasible: bool
    quarantined: str
    why_not: str
    checks: Checks
    scored: int
    solved: int
    lost: int


@dataclass(frozen=True)
class TaskSetHealth:
    """State of a task set's tasks."""

    sound: int
    unsound: int
    unvalidated: int
    quarantined: int
    not_runnable: list[tuple[str, int]]


@dataclass(frozen=True)
class VersionRow:
    """One task set of a benchmark."""

    version: int
    content_hash: str
    tasks: int
    warnings: int
    created_at: datetime


@dataclass(frozen=True)
class BenchmarkPage:
    """Everything on a benchmark's page."""

    name: str
    title: str
    kind: str
    licence: str
    source: str
    version: int
    content_hash: str
    created_at: datetime
    warnings: list[str]
    counted: TaskCounts
    health: TaskSetHealth
    tasks: list[TaskRow]
    next: tuple[str, str] | None
    versions: list[VersionRow]


def benchmark_page(
    session: Session, name: str, version: int | None, filters: dict[str, str], after: tuple[str, str] | None
) -> BenchmarkPage:
    """One benchmark. Raises NotFound."""
    row = repository.task_set(session, name, version)
    if row is None:
        raise NotFound(
            f"there is no benchmark {name!r}" + (f" version {version}" if version else ""), code="benchmark_not_found"
        )
    able = abilities(session)
    rows = repository.tasks(session, row.TaskSet.id, filters, after, PAGE + 1)
    tasks = task_rows(session, rows[:PAGE], able)
    last = rows[PAGE - 1].Task if len(rows) > PAGE else None
    return BenchmarkPage(
        name=row.Benchmark.name,
        title=row.Benchmark.title,
        kind=row.Benchmark.kind,
        licence=row.Benchmark.licence,
        source=row.Benchmark.source,
        version=row.TaskSet.version,
        content_hash=row.TaskSet.content_hash,
        created_at=row.TaskSet.created_at,
        warnings=[str(warning) for warning in row.TaskSet.warnings],
        counted=task_counts(repository.counts(session, row.TaskSet.id)),
        health=_health(session, row.TaskSet.id, able),
        tasks=tasks,
        next=(last.domain, last.name) if last else None,
        versions=[
            VersionRow(
                item.TaskSet.version,
                item.TaskSet.content_hash,
                item.tasks,
                len(item.TaskSet.warnings),
                item.TaskSet.created_at,
            )
            for item in repository.versions(session, row.Benchmark.id)
        ],
    )


def checks_of(session: Session, tasks: Mapping[UUID, bool]) -> dict[UUID, Checks]:
    """Validation results by task; `tasks` has their feasibility."""
    by_task: dict[UUID, dict[str, Any]] = {task_id: {} for task_id in tasks}
    for result in repository.validations(session, list(tasks)):
        by_task[result.task_id][result.agent] = result
    return {
        task_id: Checks(
            feasible=tasks[task_id],
            scores={agent: result.score for agent, result in results.items()},
            outcomes={agent: result.outcome for agent, result in results.items()},
            at=max((result.created_at for result in results.values()), default=None),
        )
        for task_id, results in by_task.items()
    }


def _health(session: Session, task_set_id: UUID, able: RunOptions) -> TaskSetHealth:
    rows = repository.task_facts(session, task_set_id)
    checks = checks_of(session, {row.id: row.feasible for row in rows})
    states = Counter(check.sound for check in checks.values())
    blocked = Counter(why for row in rows if (why := able.why_not(LOCAL, row)))
    return TaskSetHealth(
        sound=states[True],
        unsound=states[False],
        unvalidated=states[None],
        quarantined=repository.quarantined(session, task_set_id),
        not_runnable=blocked.most_common(),
    )


def task_rows(session: Session, rows: Sequence[AnyRow], able: RunOptions) -> list[TaskRow]:
    """Rows of `repositories.benchmarks.benchmarks_view.tasks`."""
    checks = checks_of(session, {row.Task.id: row.Task.feasible for row in rows})
    return [_task_row(row, checks[row.Task.id], able) for row in rows]


def _task_row(row: AnyRow, checks: Checks, able: RunOptions) -> TaskRow:
    task: Task = row.Task
    return TaskRow(
        id=task.id,
        task=task.key,
        domain=task.domain,
        instruction=task.instruction,
        difficulty=task.difficulty or UNLABELLED,
        difficulty_source=task.difficulty_source or "",
        level=task.level,
        feasible=task.feasible,
        quarantined=row.quarantined or "",
        why_not=able.why_not(LOCAL, task),
        checks=checks,
        scored=row.scored or 0,
        solved=row.solved or 0,
        lost=row.lost or 0,
    )


@dataclass(frozen=True)
class TaskHistoryRow:
    """One episode of a task's history."""

    id: UUID
    run_id: UUID
    agent: str
    privileged: bool
    purpose: str
    state: StateStyle
    score: float | None
    steps: int
    at: datetime


@dataclass(frozen=True)
class AgentHistory:
    """One agent's results on a task, over all episodes shown."""

    agent: str
    privileged: bool
    scored: int
    solved: int
    mean: float | None


@dataclass(frozen=True)
class TaskPage:
    """Everything on a task's page."""

    id: UUID
    task: str
    domain: str
    name: str
    benchmark: str
    version: int
    instruction: str
    dialect: str
    difficulty: str
    difficulty_source: str
    level: str | None
    os: str
    feasible: bool
    apps: list[str]
    requires: list[str]
    spec: Mapping[str, Any]
    content_hash: str
    quarantined: str
    why_not: str
    checks: Checks
    history: list[TaskHistoryRow]
    agents: list[AgentHistory]


def task_page(session: Session, task_id: UUID) -> TaskPage:
    """One task. Raises NotFound."""
    row = repository.task(session, task_id)
    if row is None:
        raise NotFound("Task not found.", code="task_not_found", hint="Look for it on its benchmark's page.")
    task: Task = row.Task
    rows = repository.history(session, task_id, HISTORY)
    return TaskPage(
        id=task.id,
        task=task.key,
        domain=task.domain,
        name=task.name,
        benchmark=row.benchmark,
        version=row.TaskSet.version,
        instruction=task.instruction,
        dialect=task.dialect,
        difficulty=task.difficulty or UNLABELLED,
        difficulty_source=task.difficulty_source or "",
        level=task.level,
        os=task.os,
        feasible=task.feasible,
        apps=task.apps,
        requires=task.requires,
        spec=task.spec,
        content_hash=task.content_hash,
        quarantined=row.quarantined or "",
        why_not=abilities(session).why_not(LOCAL, task),
        checks=checks_of(session, {task.id: task.feasible})[task.id],
        history=[_past(item) for item in rows],
        agents=_by_agent(rows),
    )


def _past(row: AnyRow) -> TaskHistoryRow:
    episode = row.Episode
    return TaskHistoryRow(
        id=episode.id,
        run_id=row.Run.id,
        agent=row.agent,
        privileged=row.privileged,
        purpose=row.Run.purpose,
        state=state_of(
            episode.state, episode.score, episode.ended_by, episode.failure_class, mixed=episode.human_assisted
        ),
        score=episode.score,
        steps=episode.steps if row.current_step is None else row.current_step,
        at=episode.ended_at or episode.created_at,
    )


def _by_agent(rows: Sequence[AnyRow]) -> list[AgentHistory]:
    by_agent: dict[str, list[AnyRow]] = {}
    for row in rows:
        if row.Episode.score is not None:
            by_agent.setdefault(row.agent, []).append(row)
    return [
        AgentHistory(
            agent=agent,
            privileged=items[0].privileged,
            scored=len(items),
            solved=sum(is_solved(item.Episode.score) for item in items),
            mean=sum(item.Episode.score for item in items) / len(items),
        )
        for agent, items in sorted(by_agent.items())
    ]
