"""What the REST API gives of one episode: attempts, steps, evaluations, evidence, events."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from backend.domain.errors import FailureClass
from backend.domain.model.episode import AttemptState, EndedBy
from backend.web.runs.schemas import ResponseModel


class EvidenceView(ResponseModel):
    """What a verdict rests on: raw bytes that a getter collected, or that they were absent."""

    position: int
    role: str = Field(examples=["result"])
    getter: str = Field(examples=["vm_file"])
    blob_name: str
    part: int = Field(default=0, description="Place among the files of one getter.")
    sha256: str | None
    url: str | None = Field(description="Where the bytes are; null = absent.")
    note: str = ""


class EvaluationView(ResponseModel):
    """One scoring of one attempt by one evaluator version."""

    id: UUID
    attempt_id: UUID
    version: str
    score: float | None = Field(description="None: the work was handed in, and people judge it; or a `failure`.")
    failure: str = Field(default="", description="Why there is no verdict; the evidence is kept for another try.")
    rule: str
    metrics: list[dict[str, Any]]
    spec: dict[str, Any] = Field(
        default={}, description="What was checked: dialect, how values are joined, getters and options per metric."
    )
    task_id: UUID | None = Field(default=None, description="The task that judged, where it is not the episode's own.")
    measures: dict[str, float] = Field(default={})
    evidence: list[EvidenceView] = Field(default=[])
    current: bool
    seconds: float | None = None
    created_at: datetime


class AttemptView(ResponseModel):
    """One try at an episode on one desktop."""

    id: UUID
    episode_id: UUID
    number: int = Field(examples=[1])
    state: AttemptState
    controller: str = Field(description="agent or person", examples=["agent"])
    worker: str | None = None
    slot: str | None = Field(default=None, examples=["machine-1 · local 0"])
    ended_by: EndedBy | None = None
    failure_class: FailureClass | None = None
    failure_message: str = ""
    seconds: dict[str, float] = Field(default={})
    desktop: dict[str, Any] = Field(default={})
    current_step: int = 0
    live: bool = False
    started_at: datetime | None = None
    first_observation_at: datetime | None = None
    ended_at: datetime | None = None
    evaluations: list[EvaluationView] = Field(default=[])


class ArtifactView(ResponseModel):
    """Where bytes are; they are read through the episode they belong to."""

    sha256: str
    url: str
    media_type: str = ""
    width: int | None = None
    height: int | None = None


class StepView(ResponseModel):
    """One observation, the agent's words, its actions and their timing."""

    id: UUID
    attempt_id: UUID
    index: int
    frame: ArtifactView | None = None
    a11y: ArtifactView | None = None
    shown: ArtifactView | None = Field(
        default=None, description="What the agent was shown, where it is not the screen."
    )
    prompt: ArtifactView | None = Field(default=None, description="What the agent asked its model, without pictures.")
    extras: dict[str, Any] = Field(
        default={}, description="Who decided, the model as its API names it, marks, view, clipboard, terminal."
    )
    windows: list[dict[str, Any]] | None = None
    words: str = ""
    reply: str = ""
    actions: list[dict[str, Any]] = Field(default=[])
    results: list[dict[str, Any]] = Field(default=[])
    invalid: str = ""
    usage: dict[str, Any] = Field(default={})
    timing: dict[str, Any] = Field(default={})
    created_at: datetime


class EventView(ResponseModel):
    """One thing that happened to a run; `seq` counts from 1 without gaps."""

    seq: int
    kind: str = Field(examples=["episode_state"])
    run_id: UUID
    episode_id: UUID | None = None
    attempt_id: UUID | None = None
    data: dict[str, Any] = Field(default={})
    created_at: datetime
