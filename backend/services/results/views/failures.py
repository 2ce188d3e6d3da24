"""Page of a run's failures, and form on a failed episode's page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.domain.judging.failure_labels import LABELS, FailureLabel, label
from backend.services.results import failure_labels as service
from backend.services.results.failure_labels import Failure, FailureSample, LabelReview

KEYBOARD = "1234567890qwer"
"""Keys of labels in order; they have no other function on an episode's page."""


@dataclass(frozen=True)
class LabelChoice:
    """One label of the form.

    Attributes:
        key: keyboard shortcut.
        chosen: set by the person.
        reason: why a rule suggests it; empty if none does.
        step: step of the suggestion.
    """

    label: FailureLabel
    key: str
    chosen: bool
    reason: str
    step: int | None


@dataclass(frozen=True)
class Panel:
    """The form on a failed episode's page.

    Attributes:
        own: this person's previous labels.
        others: other people's labels; shown only after this person's, to avoid bias.
        left: unjudged failures of the sample, without this one; None outside a sample.
    """

    failure: Failure
    person: str
    choices: Sequence[LabelChoice]
    own: LabelReview | None
    others: Sequence[LabelReview]
    sample: int | None
    seed: int
    left: int | None


def panel(session: Session, episode_id: UUID, *, person: str, number: int | None, seed: int) -> Panel | None:
    """The form; None if the episode has not failed."""
    failure = service.failure_of(session, episode_id)
    if failure is None:
        return None
    own = failure.by(person) if person else None
    remaining = None if number is None else len(_unlabelled_failures(session, failure, person, number, seed))
    others = [review for review in failure.reviews if review.person != person] if own else []
    return Panel(failure, person, _choices(failure, own), own, others, number, seed, remaining)


def _choices(failure: Failure, own: LabelReview | None) -> list[LabelChoice]:
    by = {suggestion.label: suggestion for suggestion in failure.suggested}
    return [
        LabelChoice(
            label,
            key,
            own is not None and label.key in own.labels,
            by[label.key].reason if label.key in by else "",
            by[label.key].step if label.key in by else None,
        )
        for label, key in zip(LABELS, KEYBOARD, strict=True)
    ]


def _unlabelled_failures(session: Session, failure: Failure, person: str, number: int, seed: int) -> list[Failure]:
    rows = service.sample(session, failure.run_id, number=number, seed=seed).episodes
    return [row for row in rows if row.by(person) is None and row.episode != failure.episode]


def next_unjudged(session: Session, failure: Failure, person: str, number: int, seed: int) -> UUID | None:
    """The next failure of the sample that this person has not judged; None if there is none."""
    unlabelled = _unlabelled_failures(session, failure, person, number, seed)
    return unlabelled[0].episode if unlabelled else None


SHARES_HEAD = ("label", "title", "by", "count", "n", "share", "low", "high")


def share_rows(draw: FailureSample) -> Iterator[list[Any]]:
    """Shares as flat rows."""
    for by, shares in (("people", draw.by_people), ("rules", draw.by_rules)):
        for share in shares:
            ends = share.interval or (None, None)
            yield [share.label, label(share.label).title, by, share.count, share.n, share.share, *ends]


ROWS_HEAD = ("task", "episode", "score", "ended_by", "suggested", "person", "labels", "accepted", "rejected", "note")


def label_rows(draw: FailureSample) -> Iterator[list[Any]]:
    """Episodes of the sample, one row per person."""
    for row in draw.episodes:
        columns = [row.task, str(row.episode), row.score, row.ended_by]
        columns.append(" ".join(suggestion.label for suggestion in row.suggested))
        if not row.reviews:
            yield [*columns, "", "", "", "", ""]
        for review in row.reviews:
            yield [
                *columns,
                review.person,
                *(" ".join(x) for x in (review.labels, review.accepted, review.rejected)),
                review.note,
            ]
