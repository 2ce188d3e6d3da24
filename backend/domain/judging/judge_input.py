"""What a judge sees of an attempt, and which of its pictures."""

from collections.abc import Sequence

from backend.domain.model.task import Frozen

MAX_DID = 600
"""Characters of a step's actions that a judge is told."""


class StoredPicture(Frozen):
    """A picture of the screen by its hash."""

    sha256: str
    media_type: str
    width: int
    height: int


class JudgeInputStep(Frozen):
    """One step of an attempt.

    Attributes:
        index: its number, from 0.
        did: its actions in words; what the agent said of them is left out, so that no claim of it counts.
        picture: the screen before its actions; None where there is none.
        final: it is no step, but the state that the agent left.
    """

    index: int
    did: str = ""
    picture: StoredPicture | None = None
    final: bool = False


def last_step(steps: Sequence[JudgeInputStep]) -> int | None:
    """Index of the last step with actions; None if the agent did nothing."""
    return max((step.index for step in steps if not step.final), default=None)


def picture_positions(steps: Sequence[JudgeInputStep], most: int) -> tuple[int, ...]:
    """Positions in `steps` of the pictures that are shown: at most `most` (2 or more), evenly, both ends included."""
    there = [position for position, step in enumerate(steps) if step.picture is not None]
    if len(there) <= most:
        return tuple(there)
    places = [round(number * (len(there) - 1) / (most - 1)) for number in range(most)]
    return tuple(there[place] for place in places)
