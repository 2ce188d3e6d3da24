"""Failure labels: samples of failures, suggestions by rules, labels by people, and statistics."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Episode, Project, Task
from backend.db.repositories.results import failure_labels as repository
from backend.domain.errors import Conflict, Invalid
from backend.domain.judging import failure_labels
from backend.domain.judging.failure_labels import KEYS, LABELS, LabelShare, StepFacts, Suggestion
from backend.domain.statistics.agreement import krippendorffs_alpha
from backend.services.accounts import projects
from backend.services.runs.episodes import get_episode
from backend.services.runs.runs import get_run

MOST = 1000
"""Maximum failures in a sample."""
SAMPLE = 100
"""Sample size per agent of OmniBench's authors."""


@dataclass(frozen=True)
class LabelReview:
    """One person's labels; `accepted` and `rejected` are the rules' suggestions at that time."""

    person: str
    labels: Sequence[str]
    accepted: Sequence[str]
    rejected: Sequence[str]
    note: str


@dataclass(frozen=True)
class Failure:
    """A failed episode with suggestions by rules and labels by people."""

    episode: Episode
    task: Task
    attempt_id: UUID
    suggestions: Sequence[Suggestion]
    reviews: Sequence[LabelReview]

    @property
    def labels(self) -> Collection[str]:
        """Labels by people, joined; empty if nobody has judged it."""
        return failure_labels.joined([review.labels for review in self.reviews])

    def by(self, person: str) -> LabelReview | None:
        """Labels by that person."""
        return next((review for review in self.reviews if review.person == person), None)


@dataclass(frozen=True)
class ReviewerAgreement:
    """Agreement on one label: Krippendorff's alpha over episodes judged by several people."""

    label: str
    alpha: float | None
    episodes: int


@dataclass(frozen=True)
class ReviewSample:
    """A sample of a run's failures.

    Attributes:
        failed: number of failures.
        rows: drawn failures, in order.
    """

    run_id: UUID
    seed: int
    failed: int
    rows: Sequence[Failure]

    @property
    def judged(self) -> list[Failure]:
        """Failures judged by somebody."""
        return [row for row in self.rows if row.reviews]

    @property
    def by_people(self) -> list[LabelShare]:
        """Shares among failures judged by somebody."""
        return failure_labels.shares([row.labels for row in self.judged])

    @property
    def by_rules(self) -> list[LabelShare]:
        """Shares of suggestions among all drawn failures, for labels with a rule."""
        shares = failure_labels.shares([{one.label for one in row.suggestions} for row in self.rows])
        return [share for share, label in zip(shares, LABELS, strict=True) if label.by_rule]

    @property
    def agreement(self) -> list[ReviewerAgreement]:
        """For every label in use, over episodes judged by several people."""
        twice = [[review.labels for review in row.reviews] for row in self.rows if len(row.reviews) > 1]
        used = [label.key for label in LABELS if any(label.key in labels for unit in twice for labels in unit)]
        return [
            ReviewerAgreement(
                key, krippendorffs_alpha([[key in labels for labels in unit] for unit in twice]), len(twice)
            )
            for key in used
        ]


def sample(session: Session, run_id: UUID, *, number: int = SAMPLE, seed: int = 0) -> ReviewSample:
    """A seeded sample of a run's failed episodes. Raises NotFound."""
    get_run(session, run_id)
    ids = repository.failed(session, run_id)
    drawn = failure_labels.sampled(ids, min(number, MOST), seed)
    by_id = {row.episode.id: row for row in _failures(session, drawn)}
    return ReviewSample(run_id, seed, len(ids), [by_id[key] for key in drawn if key in by_id])


def failure_of(session: Session, episode_id: UUID) -> Failure | None:
    """The episode as a failure; None if it was solved, not scored, or not the agent's own. Raises NotFound."""
    episode = get_episode(session, episode_id).episode
    if episode.solved is not False or episode.human_assisted:
        return None
    return next(iter(_failures(session, [episode_id])), None)


def review(  # noqa: PLR0913 - what is said, and by whom
    session: Session, project: Project, episode_id: UUID, *, person: str, labels: Collection[str], note: str = ""
) -> Failure:
    """Stores a person's labels for a failed episode, replacing their previous ones.

    Args:
        session: the transaction.
        project: the person's project.
        episode_id: a failed episode.
        person: a name, which identifies the person.
        labels: keys; none = no label applies.
        note: free text.

    Raises:
        NotFound: There is no such episode.
        Conflict: It has not failed.
        Invalid: a label is unknown, or the name is not valid.
    """
    unknown = sorted(set(labels) - KEYS)
    if unknown:
        raise Invalid(
            f"there is no label {unknown[0]!r}",
            code="unknown_label",
            path="labels",
            hint=f"Known: {', '.join(sorted(KEYS))}.",
        )
    failure = failure_of(session, episode_id)
    if failure is None:
        raise Conflict(
            f"the episode {episode_id} has not failed",
            code="episode_not_failed",
            hint="Only episodes with a score below 1 have failed.",
        )
    who = projects.person(session, project, person)
    repository.put(
        session,
        episode_id=episode_id,
        attempt_id=failure.attempt_id,
        actor_id=who.id,
        labels=[label.key for label in LABELS if label.key in labels],
        suggested=failure.suggestions,
        note=note,
    )
    return next(iter(_failures(session, [episode_id])))


def _failures(session: Session, ids: Sequence[UUID]) -> list[Failure]:
    rows = repository.episodes(session, ids)
    steps = _steps_by_attempt(session, [attempt for _, _, attempt in rows])
    reviews: dict[UUID, list[LabelReview]] = {}
    for row, name in repository.reviews(session, ids):
        suggested = list(dict.fromkeys(str(one[0]) for one in row.suggestions))
        accepted = [key for key in suggested if key in row.labels]
        rejected = [key for key in suggested if key not in row.labels]
        reviews.setdefault(row.episode_id, []).append(LabelReview(name, row.labels, accepted, rejected, row.note))
    return [
        Failure(
            episode,
            task,
            attempt,
            failure_labels.suggestions(episode.ended_by, feasible=task.feasible, steps=steps.get(attempt, ())),
            reviews.get(episode.id, ()),
        )
        for episode, task, attempt in rows
    ]


def _steps_by_attempt(session: Session, attempts: Sequence[UUID]) -> Mapping[UUID, Sequence[StepFacts]]:
    by_attempt: dict[UUID, list[StepFacts]] = {}
    for attempt, index, actions, picture, invalid in repository.steps(session, attempts):
        by_attempt.setdefault(attempt, []).append(StepFacts(index, actions, picture, invalid))
    return by_attempt
