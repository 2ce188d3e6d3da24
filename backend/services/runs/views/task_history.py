"""Results of a task: its newest episodes, and a summary per configuration."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories.benchmarks import benchmarks_view as repository
from backend.db.repositories.common_queries import AnyRow
from backend.domain.model.score import is_solved
from backend.services.configurations.configuration_ref import ConfigurationRef, configuration_ref
from backend.services.runs.episodes import EpisodeSummary
from backend.services.runs.views.episode import EpisodeView, episode_view

HISTORY = 40
OTHERS = 8


@dataclass(frozen=True)
class TaskHistoryRow:
    """One episode of a task's history."""

    episode: EpisodeView
    configuration: ConfigurationRef
    privileged: bool
    purpose: str


@dataclass(frozen=True)
class ConfigurationHistory:
    """One configuration's results on a task, over the shown episodes."""

    configuration: ConfigurationRef
    privileged: bool
    scored: int
    solved: int
    mean: float


@dataclass(frozen=True)
class TaskVersion:
    """The same task in another version of its benchmark."""

    id: UUID
    version: int
    episodes: int


@dataclass(frozen=True)
class TaskHistory:
    """The newest episodes of a task, and the same by configuration.

    Attributes:
        versions: other versions of the task that have episodes, if this one has none.
    """

    episodes: list[TaskHistoryRow]
    configurations: list[ConfigurationHistory]
    versions: list[TaskVersion]


def task_history(session: Session, task_id: UUID) -> TaskHistory:
    """The newest episodes of a task, over all runs."""
    rows = repository.history(session, task_id, HISTORY)
    others = [] if rows else repository.versions_with_episodes(session, task_id)
    versions = [TaskVersion(row.id, row.version, row.episodes) for row in others]
    return TaskHistory([_row(row) for row in rows], _by_configuration(rows), versions)


def others(session: Session, episode: EpisodeView) -> list[TaskHistoryRow]:
    """The newest episode of the same task in each other run, at most `OTHERS`, newest first."""
    newest: dict[UUID, TaskHistoryRow] = {}
    for row in repository.history(session, episode.task_id, HISTORY):
        started = row.Attempt is not None and row.Run.id != episode.run_id
        if started and row.Run.id not in newest and len(newest) < OTHERS:
            newest[row.Run.id] = _row(row)
    return list(newest.values())


def _row(row: AnyRow) -> TaskHistoryRow:
    episode = episode_view(EpisodeSummary(row.Episode, row.Task, row.Attempt), row.Run.config)
    return TaskHistoryRow(
        episode, configuration_ref(row.AgentConfiguration), row.AgentConfiguration.privileged, row.Run.purpose
    )


def _by_configuration(rows: Sequence[AnyRow]) -> list[ConfigurationHistory]:
    groups: dict[UUID, list[AnyRow]] = {}
    for row in rows:
        if row.Episode.score is not None:
            groups.setdefault(row.AgentConfiguration.id, []).append(row)
    histories = [_history(items) for items in groups.values()]
    return sorted(histories, key=lambda history: history.configuration.name)


def _history(rows: Sequence[AnyRow]) -> ConfigurationHistory:
    scores = [row.Episode.score for row in rows]
    return ConfigurationHistory(
        configuration=configuration_ref(rows[0].AgentConfiguration),
        privileged=rows[0].AgentConfiguration.privileged,
        scored=len(scores),
        solved=sum(map(is_solved, scores)),
        mean=fmean(scores),
    )
