"""Bodies and responses of the API for external agents."""

from typing import Any, Literal, Self
from uuid import UUID

from pydantic import Field, model_validator

from backend.domain.errors import FailureClass
from backend.domain.model.episode import AttemptState, EndedBy, EpisodeState, Outcome
from backend.domain.model.reason import ReasonCode
from backend.domain.model.trajectory import Action
from backend.services.read_model import ReadModel
from backend.web.api_common import RequestModel


class AgentToken(ReadModel):
    """A token for one episode. Shown once; a new one replaces it."""

    episode_id: UUID
    token: str = Field(description="Send it as `Authorization: Bearer TOKEN`.", examples=["dka_5n9Xq..."])


class AgentEpisode(ReadModel):
    """The token's episode, with its current state."""

    episode_id: UUID
    run_id: UUID
    task: str = Field(examples=["files/rename-report"])
    instruction: str = Field(examples=["Rename report.txt to report-2024.txt."])
    state: EpisodeState
    acting: bool = Field(description="The agent is acting or has yet to act.")
    attempt: int = Field(description="Number of the newest attempt; 0 before the first.", examples=[1])
    attempt_state: AttemptState | None = None
    outcome: Outcome | None = None
    ended_by: EndedBy | None = None
    failure_class: FailureClass | None = None
    reason: str = ""
    reason_code: ReasonCode | None = None
    score: float | None = Field(default=None, ge=0, le=1)
    solved: bool | None = None
    steps: int = 0
    awaits_restart: bool = Field(
        default=False, description="It starts again when an observation is requested: its desktop was lost."
    )


class AgentPicture(ReadModel):
    """The picture of an observation."""

    url: str = Field(examples=["/api/v1/agent/observation/frame?index=0"])
    data: str | None = Field(default=None, description="Its bytes in base64, if they were asked for with `inline`.")
    media_type: str = Field(examples=["image/jpeg"])
    width: int
    height: int


class AgentObservation(ReadModel):
    """The agent's observation at one step, and its remaining budget. Fields that the run does not show are null."""

    index: int = Field(description="Number of the step, from 0: answer it by the same number.", examples=[0])
    instruction: str
    note: str = Field(default="", description="Why the last answer could not be carried out, if so.")
    results: list[dict[str, Any]] = Field(
        default=[], description="Result of each action of the last answer: output of code and scripts, files."
    )
    max_steps: int
    max_seconds: float
    screen: dict[str, int] = Field(examples=[{"width": 1920, "height": 1080}])
    platform: str = Field(examples=["Linux"])
    action_space: str = Field(examples=["computer_13"])
    observation: str = Field(examples=["screenshot_a11y"])
    picture: AgentPicture | None = None
    accessibility_tree: str | None = None
    windows: list[dict[str, Any]] | None = None
    clipboard: str | None = None
    terminal: str | None = None
    marks: list[dict[str, Any]] | None = None
    view: dict[str, Any] | None = None


class AgentPoll(ReadModel):
    """The episode, and its newest observation if it is later than requested."""

    episode: AgentEpisode
    observation: AgentObservation | None = None


class AgentAnswer(RequestModel):
    """The answer to one observation: typed actions, a reply in the run's action space, or an end."""

    index: int = Field(ge=0, description="The observation that this answers.", examples=[0])
    attempt: int | None = Field(default=None, ge=1, description="The attempt it is meant for; null = the newest.")
    actions: list[Action] | None = Field(
        default=None, max_length=64, examples=[[{"type": "CLICK", "x": 640, "y": 360}]]
    )
    reply: str | None = Field(
        default=None, max_length=2**20, description="Text in the run's action space.", examples=["DONE"]
    )
    explanation: str = Field(default="", max_length=4000, description="Reason, shown beside the step.")
    stop: Literal["done", "infeasible", "steps"] | None = Field(
        default=None, description="Ends the episode after the actions."
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if (self.actions is None) == (self.reply is None) and not (self.actions is None and self.stop):
            raise ValueError("give `actions` or `reply`, or only `stop`")
        return self


class AgentReceipt(ReadModel):
    """Result of an answer."""

    index: int
    repeated: bool = Field(description="The same answer was given before; nothing is carried out twice.")
