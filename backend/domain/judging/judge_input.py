"""The steps and pictures of an attempt that a judge gets."""

from collections.abc import Sequence

from backend.domain.model.task import Frozen

MAX_ACTIONS = 600
"""Maximum characters of a step's actions."""


class StoredPicture(Frozen):
    """A picture of the screen by its hash."""

    sha256: str
    media_type: str
    width: int
    height: int


class JudgeInputStep(Frozen):
    """One step of an attempt.

    Attributes:
        index: number of the step, from 0.
        actions: its actions as text, without the agent's own remarks, which might influence the judge.
        picture: the screen before its actions; may be None.
        final: the end state, not a step.
    """

    index: int
    actions: str = ""
    picture: StoredPicture | None = None
    final: bool = False


def last_step(steps: Sequence[JudgeInputStep]) -> int | None:
    """Index of the last step with actions; None if the agent did nothing."""
    return max((step.index for step in steps if not step.final), default=None)


def left_out(steps: Sequence[JudgeInputStep], positions: Sequence[int]) -> int:
    """Number of pictures that are not shown."""
    return sum(step.picture is not None for step in steps) - len(positions)


def picture_positions(steps: Sequence[JudgeInputStep], most: int) -> tuple[int, ...]:
    """Positions in `steps` of the pictures to show: at most `most` (2 or more), evenly spaced, with both ends."""
    positions = [position for position, step in enumerate(steps) if step.picture is not None]
    if len(positions) <= most:
        return tuple(positions)
    places = [round(number * (len(positions) - 1) / (most - 1)) for number in range(most)]
    return tuple(positions[index] for index in places)
