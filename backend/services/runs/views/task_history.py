"""Results of a task: its newest episodes, and a summary per configuration."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories.benchmarks import benchmarks_view as repository
from backend.db.repositories.common_queries import AnyRow
from backend.services.configurations.configuration_ref import ConfigurationRef, configuration_ref
from backend.services.runs.episodes import EpisodeSummary
from backend.services.runs.views.episode import EpisodeView, episode_view

HISTORY = 40
MOST_ROWS = 10_000
"""Rows of a table of the history."""
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
    """One configuration's results on a task: all scored episodes without a person's help."""

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
    """The newest episodes of a task, and the results of all by configuration.

    Attributes:
        versions: other versions of the task that have episodes, if this one has none.
    """

    episodes: list[TaskHistoryRow]
    configurations: list[ConfigurationHistory]
    versions: list[TaskVersion]


def task_history(session: Session, task_id: UUID) -> TaskHistory:
    """The newest episodes of a task, over all runs."""
    rows = repository.history(session, task_id, HISTORY)
    older_versions = [] if rows else repository.versions_with_episodes(session, task_id)
    versions = [TaskVersion(row.id, row.version, row.episodes) for row in older_versions]
    return TaskHistory([_row(row) for row in rows], _by_configuration(session, task_id), versions)


def latest_in_other_runs(session: Session, episode: EpisodeView) -> list[TaskHistoryRow]:
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


def _by_configuration(session: Session, task_id: UUID) -> list[ConfigurationHistory]:
    histories = [
        ConfigurationHistory(
            configuration=configuration_ref(row.AgentConfiguration),
            privileged=row.AgentConfiguration.privileged,
            scored=row.scored,
            solved=row.solved,
            mean=row.mean,
        )
        for row in repository.results_by_configuration(session, task_id)
    ]
    return sorted(histories, key=lambda history: history.configuration.name)


HISTORY_HEAD = (
    "episode", "run", "configuration", "configuration_id", "privileged", "purpose", "repeat", "state", "outcome",
    "human_assisted", "score", "solved", "steps", "ended_by", "failure_class", "failure_code", "started_at", "ended_at",
)  # fmt: skip


def history_rows(session: Session, task_id: UUID) -> Iterator[list[Any]]:
    """The newest episodes of a task as flat rows, at most `MOST_ROWS`."""
    for row in map(_row, repository.history(session, task_id, MOST_ROWS)):
        episode, configuration = row.episode, row.configuration
        yield [
            *(str(episode.id), str(episode.run_id), configuration.name, str(configuration.id)),
            *(row.privileged, row.purpose, episode.repeat, episode.state, episode.outcome, episode.human_assisted),
            *(episode.score, episode.solved, episode.steps, episode.ended_by, episode.failure_class),
            *(episode.failure_code, episode.started_at, episode.ended_at),
        ]


CONFIGURATIONS_HEAD = ("configuration", "configuration_id", "privileged", "scored", "solved", "mean_score")


def configuration_rows(session: Session, task_id: UUID) -> Iterator[list[Any]]:
    """Results of each configuration as flat rows."""
    for trials in _by_configuration(session, task_id):
        own = trials.configuration
        yield [own.name, str(own.id), trials.privileged, trials.scored, trials.solved, trials.mean]
