"""Roles of models in agents that use several, and failures of their replies."""

from enum import StrEnum


class ModelPart(StrEnum):
    """Role of a model in an agent that uses several."""

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
