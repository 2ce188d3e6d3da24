"""Results of a task: its newest episodes, and a summary per agent."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories.benchmarks import benchmarks_view as repository
from backend.db.repositories.common_queries import AnyRow
from backend.domain.model.score import is_solved
from backend.services.runs.episodes import EpisodeSummary
from backend.services.runs.views.episode import EpisodeView, episode_view

HISTORY = 40


@dataclass(frozen=True)
class TaskHistoryRow:
    """One episode of a task's history."""

    episode: EpisodeView
    agent: str
    privileged: bool
    purpose: str


@dataclass(frozen=True)
class AgentHistory:
    """One agent's results on a task, over the shown episodes."""

    agent: str
    privileged: bool
    scored: int
    solved: int
    mean: float | None


@dataclass(frozen=True)
class TaskHistory:
    """The newest episodes of a task, and the same by agent."""

    episodes: list[TaskHistoryRow]
    agents: list[AgentHistory]


def task_history(session: Session, task_id: UUID) -> TaskHistory:
    """The newest episodes of a task, over all runs."""
    rows = repository.history(session, task_id, HISTORY)
    return TaskHistory([_row(row) for row in rows], _by_agent(rows))


def _row(row: AnyRow) -> TaskHistoryRow:
    episode = episode_view(EpisodeSummary(row.Episode, row.Task, row.Attempt), row.Run.config)
    return TaskHistoryRow(episode, row.agent, row.privileged, row.Run.purpose)


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
