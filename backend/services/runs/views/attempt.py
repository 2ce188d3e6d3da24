"""Views of an attempt with steps and evaluations."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from backend.addresses import API
from backend.db import models
from backend.db.repositories.attempts.attempts import EvidenceFile, LocatedAttempt
from backend.domain.errors import FailureClass
from backend.domain.model.code_results import code_failure, refusal
from backend.domain.model.episode import AttemptState, EndedBy
from backend.services.read_model import ReadModel
from backend.services.runs.episodes import EvaluationRow
from backend.services.runs.views.waiting import AttemptWait, DesktopStartup, startup_of, wait_of
from backend.telemetry.tracing import sampled_trace_id

_SILENT = ({"final": True}, {"value": None}, {"value": ""})


class EvidenceView(ReadModel):
    """Evidence of a verdict: raw bytes collected by a getter, or that they were absent."""

    position: int
    role: str = Field(examples=["result"])
    getter: str = Field(examples=["vm_file"])
    blob_name: str
    part: int = Field(default=0, description="Place among the files of one getter.")
    sha256: str | None
    url: str | None = Field(description="Where the bytes are; null = absent.")
    size: int | None = Field(description="Bytes.")
    media_type: str | None
    note: str = ""


class EvaluationView(ReadModel):
    """One evaluation of an attempt by one evaluator version."""

    id: UUID
    attempt_id: UUID
    version: str
    score: float | None = Field(description="None: the work was handed in, and people judge it; or a `failure`.")
    failure: str = Field(
        default="", description="Why there is no verdict; the evidence is kept for another evaluation."
    )
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


class AttemptView(ReadModel):
    """One attempt of an episode on one desktop."""

    id: UUID
    episode_id: UUID
    number: int = Field(examples=[1])
    state: AttemptState
    controller: str = Field(description="agent or person", examples=["agent"])
    worker: str | None = None
    slot: str | None = Field(default=None, examples=["machine-1 · local 0"])
    ended_by: EndedBy | None = None
    failure_class: FailureClass | None = None
    failure_code: str | None = Field(
        default=None, description="Stable code of the failure; see docs/errors.md.", examples=["desktop_gone"]
    )
    failure_message: str = ""
    seconds: dict[str, float] = Field(default={})
    desktop: dict[str, Any] = Field(default={})
    current_step: int = 0
    live: bool = False
    waiting: AttemptWait | None = Field(default=None, description="What it waits for now; null while its agent acts.")
    silent_since: datetime | None = Field(
        default=None, description="Its worker's last heartbeat, if that is late (5 s); null otherwise."
    )
    started_at: datetime | None = None
    first_observation_at: datetime | None = None
    ended_at: datetime | None = None
    trace_id: str | None = Field(default=None, description="Its trace, if it was traced.")
    evaluations: list[EvaluationView] = Field(default=[])

    @property
    def to_first_observation(self) -> float | None:
        """Seconds from the start to the agent's first observation."""
        if self.started_at is None or self.first_observation_at is None:
            return None
        return (self.first_observation_at - self.started_at).total_seconds()

    @property
    def unreported(self) -> float:
        """Seconds without a phase, for an attempt lost to the cluster: a dead worker did not report any."""
        if self.started_at is None or self.ended_at is None or self.failure_class is not FailureClass.CLUSTER:
            return 0.0
        return max(0.0, (self.ended_at - self.started_at).total_seconds() - sum(self.seconds.values()))

    @property
    def startup(self) -> DesktopStartup | None:
        """Wait of the attempt while its desktop is created."""
        return startup_of(self.state, self.desktop)


class ArtifactView(ReadModel):
    """Reference to bytes; they are read through their episode."""

    sha256: str
    url: str
    media_type: str = ""
    width: int | None = None
    height: int | None = None


class StepView(ReadModel):
    """One observation with the agent's text, actions and timing."""

    id: UUID
    attempt_id: UUID
    index: int
    frame: ArtifactView | None = None
    a11y: ArtifactView | None = None
    agent_view: ArtifactView | None = Field(
        default=None, description="What the agent was shown, where it is not the screen."
    )
    prompt: ArtifactView | None = Field(default=None, description="What the agent asked its model, without pictures.")
    extras: dict[str, Any] = Field(
        default={},
        description="Who decided, the model as its API names it, its reasoning, safety checks, "
        "calls of several models by part, marks, view, clipboard.",
    )
    frame_hash: int | None = Field(
        default=None, description="64-bit perceptual hash of the screen, as a signed integer."
    )
    windows: list[dict[str, Any]] | None = None
    explanation: str = ""
    reply: str = ""
    actions: list[dict[str, Any]] = Field(default=[])
    results: list[dict[str, Any]] = Field(default=[])
    invalid: str = ""
    usage: dict[str, Any] = Field(default={})
    timing: dict[str, Any] = Field(default={})
    created_at: datetime

    @property
    def final(self) -> bool:
        """The final state, without an action."""
        return any(result.get("final") for result in self.results)

    @property
    def answers(self) -> list[dict[str, Any]]:
        """The desktop's answers, without empty ones."""
        return [result for result in self.results if result and result not in _SILENT]

    @property
    def code_failure(self) -> str:
        """How code of the step failed, in one line; empty if none did."""
        return code_failure(self.results)

    @property
    def refusal(self) -> str:
        """Why an action was not carried out; empty if each was."""
        return refusal(self.results)


def artifact_url(sha256: str) -> str:
    """Address of an artifact."""
    return f"{API}/artifacts/{sha256}"


def attempt_views(rows: Sequence[LocatedAttempt], evaluations: Sequence[EvaluationRow]) -> list[AttemptView]:
    """Attempts with where they ran and their evaluations."""
    by_attempt: dict[UUID, list[EvaluationView]] = {row.attempt.id: [] for row in rows}
    for row in evaluations:
        by_attempt[row.evaluation.attempt_id].append(evaluation_view(row))
    return [_attempt(row, by_attempt[row.attempt.id]) for row in rows]


def _attempt(row: LocatedAttempt, evaluations: list[EvaluationView]) -> AttemptView:
    attempt = row.attempt
    return AttemptView(
        id=attempt.id,
        episode_id=attempt.episode_id,
        number=attempt.number,
        state=attempt.state,
        controller=attempt.controller,
        worker=row.worker,
        slot=f"{row.node} · {row.provider} {row.index}",
        ended_by=attempt.ended_by,
        failure_class=attempt.failure_class,
        failure_code=attempt.failure_code,
        failure_message=attempt.failure_message,
        seconds={name: float(value) for name, value in attempt.seconds.items()},
        desktop=attempt.desktop,
        current_step=attempt.current_step,
        live=attempt.live,
        waiting=wait_of(attempt, row.model_wait, row.step_at, row.agent) if attempt.live else None,
        silent_since=row.silent_since if attempt.live else None,
        started_at=attempt.started_at,
        first_observation_at=attempt.first_observation_at,
        ended_at=attempt.ended_at,
        trace_id=sampled_trace_id(attempt.trace_parent),
        evaluations=evaluations,
    )


def evaluation_view(row: EvaluationRow) -> EvaluationView:
    """An evaluation with measures and evidence."""
    evaluation = row.evaluation
    return EvaluationView(
        id=evaluation.id,
        attempt_id=evaluation.attempt_id,
        version=evaluation.version,
        score=evaluation.score,
        failure=evaluation.failure,
        rule=evaluation.rule,
        metrics=evaluation.metrics,
        spec=evaluation.spec,
        task_id=evaluation.task_id,
        measures=dict(row.measures),
        evidence=[_evidence(evidence) for evidence in row.evidence],
        current=evaluation.current,
        seconds=evaluation.seconds,
        created_at=evaluation.created_at,
    )


def _evidence(row: EvidenceFile) -> EvidenceView:
    evidence = row.evidence
    return EvidenceView(
        position=evidence.position,
        role=evidence.role,
        getter=evidence.getter,
        blob_name=evidence.blob_name,
        part=evidence.part,
        sha256=evidence.sha256,
        url=artifact_url(evidence.sha256) if evidence.sha256 else None,
        size=row.size,
        media_type=row.media_type,
        note=evidence.note,
    )


def step_view(row: models.Step) -> StepView:
    """A step; pictures and trees as addresses."""
    frame = row.frame_sha256
    return StepView(
        id=row.id,
        attempt_id=row.attempt_id,
        index=row.index,
        frame=_artifact(frame, row.frame_media_type or "", row.width, row.height) if frame else None,
        a11y=_artifact(row.a11y_sha256, "application/xml") if row.a11y_sha256 else None,
        agent_view=_artifact(row.agent_view_sha256, "image/jpeg") if row.agent_view_sha256 else None,
        prompt=_artifact(row.prompt_sha256, "text/plain") if row.prompt_sha256 else None,
        extras=row.extras,
        frame_hash=row.frame_hash,
        windows=row.windows,
        explanation=row.explanation,
        reply=row.reply,
        actions=row.actions,
        results=[value if isinstance(value, dict) else {"value": value} for value in row.results],
        invalid=row.invalid,
        usage=row.usage,
        timing=row.timing,
        created_at=row.created_at,
    )


def _artifact(sha256: str, media_type: str, width: int | None = None, height: int | None = None) -> ArtifactView:
    return ArtifactView(sha256=sha256, url=artifact_url(sha256), media_type=media_type, width=width, height=height)
