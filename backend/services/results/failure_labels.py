"""Failure labels: samples of failures, suggestions by rules, labels by people, and statistics."""

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from pydantic import Field, computed_field
from sqlalchemy.orm import Session

from backend.db.models import Project
from backend.db.repositories.results import failure_labels as repository
from backend.domain.errors import Conflict, Invalid
from backend.domain.judging import failure_labels
from backend.domain.judging.failure_labels import KEYS, LABELS, StepFacts, Suggestion
from backend.domain.model.episode import EndedBy
from backend.domain.statistics.agreement import krippendorffs_alpha
from backend.domain.statistics.intervals import Interval
from backend.services.accounts import projects
from backend.services.read_model import ReadModel, short
from backend.services.runs.episodes import get_episode
from backend.services.runs.runs import get_run

MOST = 1000
"""Maximum failures in a sample."""
SAMPLE = 100
"""Sample size per agent of OmniBench's authors."""


class SuggestionView(ReadModel):
    """A suggestion by a rule."""

    label: str = Field(examples=["repeated"])
    step: int | None
    reason: str


class LabelReview(ReadModel):
    """One person's labels; `accepted` and `rejected` are the rules' suggestions at that time."""

    person: str
    labels: list[str]
    accepted: list[str]
    rejected: list[str]
    note: str


class Failure(ReadModel):
    """A failed episode with suggestions by rules and labels by people, joined: those that at least half of them set."""

    episode: UUID
    run_id: UUID
    attempt_id: UUID
    task: str
    instruction: str
    score: float
    ended_by: EndedBy | None
    suggested: list[SuggestionView]
    reviews: list[LabelReview]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def labels(self) -> list[str]:
        """Labels by people, joined; empty if unlabelled."""
        return sorted(failure_labels.majority_labels([review.labels for review in self.reviews]))

    @computed_field  # type: ignore[prop-decorator]
    @property
    def url(self) -> str:
        """The form in which a person judges it."""
        return f"/episodes/{self.episode}#why"

    def by(self, person: str) -> LabelReview | None:
        """Labels by that person."""
        return next((review for review in self.reviews if review.person == person), None)


class ShareView(ReadModel):
    """In how many of n failures a label applies, with Wilson's interval."""

    label: str
    count: int
    n: int
    share: float | None
    interval: Interval | None


class ReviewerAgreement(ReadModel):
    """Agreement on one label: Krippendorff's alpha over episodes judged by several people."""

    label: str
    alpha: float | None
    episodes: int


class LabelView(ReadModel):
    """One label; `papers`: its names in papers."""

    title: str
    text: str
    papers: dict[str, str]
    by_rule: bool


class FailureSample(ReadModel):
    """A seeded sample of a run's failures."""

    run: UUID
    seed: int
    failed: int = Field(description="Failures that the run has.")
    episodes: list[Failure] = Field(description="In the order of drawing.")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def judged(self) -> int:
        """Sampled failures that somebody has judged."""
        return len(self._judged)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def by_people(self) -> list[ShareView]:
        """Shares among judged failures."""
        return [
            ShareView.model_validate(share) for share in failure_labels.shares([row.labels for row in self._judged])
        ]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def by_rules(self) -> list[ShareView]:
        """Shares of suggestions by rules among all sampled failures, for labels with a rule."""
        shares = failure_labels.shares([{suggestion.label for suggestion in row.suggested} for row in self.episodes])
        return [ShareView.model_validate(share) for share, label in zip(shares, LABELS, strict=True) if label.by_rule]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def agreement(self) -> list[ReviewerAgreement]:
        """Agreement on every used label, over episodes judged by several people."""
        twice = [[review.labels for review in row.reviews] for row in self.episodes if len(row.reviews) > 1]
        used = [label.key for label in LABELS if any(label.key in labels for unit in twice for labels in unit)]
        return [
            ReviewerAgreement(
                label=key,
                alpha=krippendorffs_alpha([[key in labels for labels in unit] for unit in twice]),
                episodes=len(twice),
            )
            for key in used
        ]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def labels(self) -> dict[str, LabelView]:
        """The closed set, by key."""
        return {label.key: LabelView.model_validate(label) for label in LABELS}

    @property
    def _judged(self) -> list[Failure]:
        return [row for row in self.episodes if row.reviews]


def sample(session: Session, run_id: UUID, *, number: int = SAMPLE, seed: int = 0) -> FailureSample:
    """A seeded sample of a run's failed episodes. Raises NotFound."""
    get_run(session, run_id)
    ids = repository.failed(session, run_id)
    drawn = failure_labels.draw_sample(ids, min(number, MOST), seed)
    by_id = {row.episode: row for row in _failures(session, drawn)}
    episodes = [by_id[key] for key in drawn if key in by_id]
    return FailureSample(run=run_id, seed=seed, failed=len(ids), episodes=episodes)


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
        suggested=[
            Suggestion(suggestion.label, suggestion.step, suggestion.reason) for suggestion in failure.suggested
        ],
        note=note,
    )
    return next(iter(_failures(session, [episode_id])))


def _failures(session: Session, ids: Sequence[UUID]) -> list[Failure]:
    rows = repository.episodes(session, ids)
    steps = _steps_by_attempt(session, [attempt for _, _, attempt in rows])
    reviews: dict[UUID, list[LabelReview]] = {}
    for row, name in repository.reviews(session, ids):
        suggested = list(dict.fromkeys(str(suggestion[0]) for suggestion in row.suggestions))
        accepted = [key for key in suggested if key in row.labels]
        rejected = [key for key in suggested if key not in row.labels]
        reviews.setdefault(row.episode_id, []).append(
            LabelReview(person=name, labels=row.labels, accepted=accepted, rejected=rejected, note=row.note)
        )
    return [
        Failure(
            episode=episode.id,
            run_id=episode.run_id,
            attempt_id=attempt,
            task=task.key,
            instruction=short(task.instruction),
            score=episode.score or 0.0,
            ended_by=episode.ended_by,
            suggested=[
                SuggestionView.model_validate(suggestion)
                for suggestion in failure_labels.suggestions(
                    episode.ended_by, feasible=task.feasible, steps=steps.get(attempt, ())
                )
            ],
            reviews=reviews.get(episode.id, []),
        )
        for episode, task, attempt in rows
    ]


def _steps_by_attempt(session: Session, attempts: Sequence[UUID]) -> Mapping[UUID, Sequence[StepFacts]]:
    by_attempt: dict[UUID, list[StepFacts]] = {}
    for attempt, index, actions, picture, invalid, grounder_failed in repository.steps(session, attempts):
        by_attempt.setdefault(attempt, []).append(StepFacts(index, actions, picture, invalid, grounder_failed))
    return by_attempt
