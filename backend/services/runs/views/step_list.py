"""An attempt's steps as pages show them: a part at a time, so that long attempts cost no more than short ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories.runs import episode_view as repository
from backend.domain.model.trajectory import Usage
from backend.services.runs.views.attempt import StepView, step_view

PART = 50
"""Steps in one part of the list."""
STRIP = 12
"""Pictures along the scrubber."""


@dataclass(frozen=True)
class StepList:
    """One part of an attempt's steps, which are numbered from 0.

    Attributes:
        listed: the steps of this part.
        chosen: the selected step; None without steps.
        last: number of the attempt's last step, which may be its final state; -1 without steps.
        acted: number of the attempt's steps, without the final state.
        strip: (number, hash of its picture) of steps at equal distances.
        spent: tokens and cost of all steps; not priced if any step is not.
    """

    listed: Sequence[StepView] = ()
    chosen: StepView | None = None
    last: int = -1
    acted: int = 0
    strip: Sequence[tuple[int, str]] = ()
    spent: Usage = field(default_factory=Usage)

    @property
    def first(self) -> int:
        """First step number of this part."""
        return self.listed[0].index // PART * PART if self.listed else 0

    @property
    def parts(self) -> list[int]:
        """First step numbers of the parts."""
        return list(range(0, self.last + 1, PART))

    @property
    def part(self) -> int:
        """Steps in one part."""
        return PART


def step_list(session: Session, attempt_id: UUID, number: int | None = None, *, whole: bool = False) -> StepList:
    """The part with a step.

    Args:
        session: the transaction.
        attempt_id: whose steps.
        number: of the selected step; the last one if None or if there is none with this number.
        whole: list all steps.
    """
    count, last = repository.step_span(session, attempt_id)
    if not count:
        return StepList()
    number = last if number is None or number > last else number
    first = 0 if whole else number // PART * PART
    listed = steps_between(session, attempt_id, first, last if whole else first + PART - 1)
    newest = listed[-1] if listed and listed[-1].index == last else steps_between(session, attempt_id, last, last)[0]
    return StepList(
        listed=listed,
        chosen=next((step for step in listed if step.index == number), newest),
        last=last,
        acted=count - newest.final,
        strip=_strip(session, attempt_id, last),
        spent=sum(map(Usage.model_validate, filter(None, repository.usages(session, attempt_id))), Usage()),
    )


def steps_between(session: Session, attempt_id: UUID, first: int, last: int) -> list[StepView]:
    """The steps with these numbers, both included."""
    return [step_view(row) for row in repository.steps_between(session, attempt_id, first, last)]


def _strip(session: Session, attempt_id: UUID, last: int) -> list[tuple[int, str]]:
    places = min(STRIP, last + 1)
    numbers = sorted({round(index * last / max(places - 1, 1)) for index in range(places)})
    frames = repository.frames_of(session, attempt_id, numbers)
    return [(number, frames[number]) for number in numbers if number in frames]
