"""Demonstrations: recorded steps with the action that was right at each, for evaluation without a desktop."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from backend.domain.model.task import Frozen
from backend.domain.model.trajectory import Action

MOST_STEPS = 200
"""Steps of one demonstration."""
MOST_BOXES = 50


class SetForm(StrEnum):
    """Source of the demonstrations; decides which metrics are shown first."""

    DESKARENA = "deskarena"
    MIND2WEB = "mind2web"
    ANDROID_CONTROL = "android_control"
    OMNIACT = "omniact"
    RUN = "run"
    """Trajectories recorded here."""


class Box(Frozen):
    """A rectangle in pixels of the screen, from the top left."""

    x: float
    y: float
    width: float = Field(gt=0)
    height: float = Field(gt=0)

    def holds(self, x: float, y: float) -> bool:
        """Whether the point lies in it, edges included."""
        return self.x <= x <= self.x + self.width and self.y <= y <= self.y + self.height


class ReferenceAction(Frozen):
    """One right action.

    Attributes:
        action: as recorded.
        boxes: of the elements that it may hit, any of them; empty if no element is known.
    """

    action: Action
    boxes: tuple[Box, ...] = Field(default=(), max_length=MOST_BOXES)


class Reference(Frozen):
    """The right action at a step.

    Attributes:
        operation: in the set's own word: `SELECT`, `open_app`.
        value: its argument: a text, an option, a direction.
        actions: in order.
        alternatives: other actions that are as right as all of `actions` together.
    """

    operation: str = Field(default="", max_length=100)
    value: str = Field(default="", max_length=10_000)
    actions: tuple[ReferenceAction, ...] = Field(min_length=1, max_length=100)
    alternatives: tuple[Action, ...] = Field(default=(), max_length=20)


class ScreenElement(Frozen):
    """An element of the screen.

    Attributes:
        role: as accessibility trees name it: `push-button`, `link`, `entry`.
        name: its label or text.
    """

    role: str = Field(default="push-button", max_length=100, pattern=r"^[a-z][a-z-]*$")
    name: str = Field(default="", max_length=2_000)
    box: Box


class DemonstrationStep(Frozen):
    """One step.

    Attributes:
        image: path of the screenshot in the set's folder, PNG or JPEG.
        reference: what is right.
        elements: of the screen, if known; the tree is built from them.
        tree: the accessibility tree as OSWorld writes it.
        words: what was thought or said at the step, shown to the agent as a part of its history.
    """

    image: str = Field(min_length=1, max_length=500)
    reference: Reference
    elements: tuple[ScreenElement, ...] = Field(default=(), max_length=20_000)
    tree: str = Field(default="", repr=False, max_length=16 * 2**20)
    words: str = Field(default="", max_length=10_000)


class Demonstration(Frozen):
    """A task with its recorded steps.

    Attributes:
        id: its name in the set; unique.
        note: what an agent has to know of the set, after the instruction.
        labels: what results are divided by.
    """

    id: str = Field(min_length=1, max_length=200)
    instruction: str = Field(min_length=1, max_length=10_000)
    note: str = Field(default="", max_length=4_000)
    platform: str = Field(default="Linux", pattern="^(Linux|Windows)$")
    labels: Mapping[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,49}$")], Annotated[str, Field(max_length=200)]] = (
        Field(default_factory=dict, max_length=20)
    )
    steps: tuple[DemonstrationStep, ...] = Field(min_length=1, max_length=MOST_STEPS)
