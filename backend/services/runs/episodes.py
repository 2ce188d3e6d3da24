"""Queries of episodes, attempts, steps and evaluations."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.models import Attempt, Episode, Evaluation, Step, Task
from backend.db.repositories.attempts import attempts as attempt_repository
from backend.db.repositories.attempts.attempts import EvidenceFile, LocatedAttempt
from backend.db.repositories.pagination import CursorPage
from backend.db.repositories.runs import episodes as repository
from backend.domain.errors import NotFound
from backend.domain.model.episode import AttemptState, EpisodeState
from backend.domain.model.reason import ReasonCode
from backend.services.read_model import ReadModel

OPENING = "opening"
"""Key in an attempt's `desktop` while it is being created; see `attempts.note_opening`."""


@dataclass(frozen=True)
class EpisodeSummary:
    """An episode with its task and its newest attempt."""

    episode: Episode
    task: Task
    attempt: Attempt | None

    @property
    def seconds(self) -> Mapping[str, float]:
        """Seconds by phase of the newest attempt."""
        return {} if self.attempt is None else self.attempt.seconds

    @property
    def trace_parent(self) -> str | None:
        """Context of the newest attempt in the traces."""
        return None if self.attempt is None else self.attempt.trace_parent

    @property
    def steps(self) -> int:
        """Steps of the running attempt; without one, those of the attempt that counts."""
        return steps_of(self.episode, self.attempt)


def steps_of(episode: Episode, newest: Attempt | None) -> int:
    """An episode's own number is written at its end; until then its newest attempt has it."""
    return newest.current_step if newest is not None and newest.live else episode.steps


class WaitView(ReadModel):
    """Why an episode waits."""

    reason: str = Field(
        description="The first of the reasons that keep it from beginning.",
        examples=["8 of 8 desktops in use; 3 episodes of the run first"],
    )
    reason_code: ReasonCode = Field(examples=[ReasonCode.DESKTOPS_IN_USE])
    episodes_ahead: int | None = Field(
        default=None,
        description="Waiting episodes of its run that start before it; null if it waits for anything "
        "but its turn or a limit.",
    )
    starts_at: datetime | None = Field(
        default=None,
        description="Estimated start, if its run keeps the slots it has; null where there is no estimate.",
    )

    @property
    def text(self) -> str:
        """The reason, with the estimated start if known."""
        return f"{self.reason}; starts about {self.starts_at:%H:%M} UTC" if self.starts_at else self.reason


@dataclass(frozen=True)
class EvaluationRow:
    """An evaluation with its measures and evidence."""

    evaluation: Evaluation
    measures: Mapping[str, float]
    evidence: Sequence[EvidenceFile]


def get_episode(session: Session, episode_id: UUID) -> EpisodeSummary:
    """The episode. Raises NotFound."""
    episode = repository.get(session, episode_id)
    if episode is None:
        raise NotFound(f"there is no episode {episode_id}", code="episode_not_found")
    newest = repository.newest_attempts(session, [episode.id])
    return EpisodeSummary(episode, session.get_one(Task, episode.task_id), newest.get(episode.id))


def list_episodes(
    session: Session, *, cursor: str | None = None, limit: int = 50, newest_first: bool = False, **filters: Any
) -> CursorPage[EpisodeSummary]:
    """Episodes in order of creation. Filters: `run_id`, `task_id`, `states`, `domain`, `difficulty`."""
    page = repository.listing(session, cursor=cursor, limit=limit, newest_first=newest_first, **filters)
    newest = repository.newest_attempts(session, [episode.id for episode, _ in page.items])
    rows = [EpisodeSummary(episode, task, newest.get(episode.id)) for episode, task in page.items]
    return CursorPage(items=rows, next=page.next)


def number_waiting(session: Session, run_id: UUID) -> int:
    """Number of waiting episodes of the run."""
    return repository.counts(session, [run_id])[run_id].get(EpisodeState.WAITING.value, 0)


def located_attempts(session: Session, episode_id: UUID) -> list[LocatedAttempt]:
    """All attempts of an episode, including lost ones, in order, with where they ran."""
    return attempt_repository.located_attempts(session, Attempt.episode_id == episode_id)


def attempts_of(session: Session, episode_ids: Sequence[UUID]) -> dict[UUID, list[LocatedAttempt]]:
    """All attempts of these episodes by episode, in order, with where they ran."""
    by_episode: dict[UUID, list[LocatedAttempt]] = defaultdict(list)
    for row in attempt_repository.located_attempts(session, Attempt.episode_id.in_(episode_ids)):
        by_episode[row.attempt.episode_id].append(row)
    return dict(by_episode)


def located_attempt(session: Session, attempt_id: UUID) -> LocatedAttempt:
    """The attempt with where it ran. Raises NotFound."""
    for row in attempt_repository.located_attempts(session, Attempt.id == attempt_id):
        return row
    raise NotFound(f"there is no attempt {attempt_id}", code="attempt_not_found")


def get_attempt(session: Session, attempt_id: UUID) -> Attempt:
    """The attempt. Raises NotFound."""
    attempt = attempt_repository.get(session, attempt_id)
    if attempt is None:
        raise NotFound(f"there is no attempt {attempt_id}", code="attempt_not_found")
    return attempt


def attempts(session: Session, episode_id: UUID) -> list[Attempt]:
    """All attempts of an episode, including lost ones, in order."""
    return attempt_repository.of_episode(session, episode_id)


_JUDGED = frozenset({AttemptState.SCORED, AttemptState.HANDED_IN})


def counted_attempt(session: Session, episode_id: UUID) -> Attempt | None:
    """The attempt that determines an episode's outcome: scored or submitted, else the newest."""
    rows = attempts(session, episode_id)
    scored = [attempt for attempt in rows if attempt.state in _JUDGED]
    return next(reversed(scored or rows), None)


def steps(session: Session, attempt_id: UUID, *, after: int = -1, limit: int | None = 1000) -> list[Step]:
    """An attempt's steps with an index above `after`, in order; the last one may be the final state."""
    return attempt_repository.steps(session, attempt_id, after=after, limit=limit)


def steps_of_attempts(session: Session, attempt_ids: Sequence[UUID]) -> dict[UUID, list[Step]]:
    """All steps of these attempts by attempt, in order."""
    by_attempt: dict[UUID, list[Step]] = defaultdict(list)
    for step in attempt_repository.steps_of(session, attempt_ids):
        by_attempt[step.attempt_id].append(step)
    return dict(by_attempt)


def evaluations(session: Session, attempt_ids: Sequence[UUID]) -> list[EvaluationRow]:
    """All evaluations of these attempts, oldest first."""
    rows = attempt_repository.evaluations(session, attempt_ids)
    keys = [row.id for row in rows]
    measures, evidence = attempt_repository.measures(session, keys), attempt_repository.evidence_files(session, keys)
    return [EvaluationRow(row, measures[row.id], evidence[row.id]) for row in rows]
