"""What models do for an agent that asks several, and how their replies fail."""

from enum import StrEnum


class ModelPart(StrEnum):
    """What a model does for an agent that asks several."""

    PLANNER = "planner"
    GROUNDER = "grounder"
    DESCRIBER = "describer"


class CallFailure(StrEnum):
    """Why a model's reply could not be used.

    Attributes:
        INCOMPLETE: it was cut off, refused or paused.
        UNCLEAR: it is not in the format that was asked for.
        NO_POINT: a grounder's reply has no point.
        OFF_SCREEN: its point lies outside the screen.
    """

    INCOMPLETE = "incomplete"
    UNCLEAR = "unclear"
    NO_POINT = "no_point"
    OFF_SCREEN = "off_screen"
