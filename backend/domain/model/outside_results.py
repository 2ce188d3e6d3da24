"""Results that another tool measured, to be imported as a run."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from backend.domain.model.episode import EndedBy
from backend.domain.model.run import ScreenSize
from backend.domain.model.task import Frozen

OUTSIDE_AGENT = "outside"
"""Agent and provider of an imported run."""
MOST_EPISODES = 100_000
LONGEST_ERROR = 2000


class OutsideEpisode(Frozen):
    """Result of one task in one pass.

    Attributes:
        task: `domain/name`.
        repeat: the pass, from 1.
        score: None = there is no result, which is not a 0.
        error: why there is none.
    """

    task: str = Field(min_length=3, max_length=301)
    repeat: int = Field(default=1, ge=1, le=100)
    score: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False)
    steps: int = Field(default=0, ge=0, le=10**6)
    ended_by: EndedBy | None = None
    error: str = Field(default="", max_length=LONGEST_ERROR)


class OutsideResults(Frozen):
    """Results of one configuration.

    Attributes:
        format: where they come from.
        model, action_space, observation: who acted, in the words of that tool.
        max_steps: its step budget, if known.
        screen: its size, if known.
        arguments: all settings that the tool wrote.
    """

    format: Literal["osworld"] = "osworld"
    model: str = Field(min_length=1, max_length=200)
    action_space: str = Field(min_length=1, max_length=100)
    observation: str = Field(min_length=1, max_length=100)
    max_steps: int | None = Field(default=None, ge=1, le=1000)
    screen: ScreenSize | None = None
    arguments: Mapping[str, Any] = Field(default_factory=dict)
    episodes: tuple[OutsideEpisode, ...] = Field(min_length=1, max_length=MOST_EPISODES)
