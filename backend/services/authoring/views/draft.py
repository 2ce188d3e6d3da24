"""View of a draft with its trial, reviews, versions and recordings."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.models import TaskDraft, TaskDraftRequest
from backend.db.models.enums import DraftAuthor, DraftRequestState, RecordingKind, ReviewVerdict
from backend.db.repositories.authoring import drafts as repository
from backend.domain.drafts.content import missing
from backend.domain.drafts.forms import PluginForm
from backend.domain.drafts.states import DraftState, RejectionReason
from backend.domain.model.episode import EpisodeState, RunState
from backend.domain.ports.storage import ArtifactStore
from backend.services.authoring import draft_checks, draft_recordings, draft_reviews, drafts
from backend.services.authoring.draft_recordings import RecordingView as Recording
from backend.services.authoring.draft_trials import DraftTrialResult, latest_trial
from backend.services.read_model import ReadModel


class DraftView(ReadModel):
    """A draft in a list."""

    id: UUID
    benchmark: str = Field(examples=["own"])
    key: str = Field(examples=["editor/add_milk"])
    instruction: str
    state: DraftState
    rejection_reason: RejectionReason | None
    rejection_comment: str
    version: int
    content_hash: str
    approvals: int = Field(description="Of the newest version, by people other than those who wrote it.")
    author: str
    author_kind: DraftAuthor
    model: str = Field(description="Which model wrote it first; empty for a person's.")
    prompt_hash: str = Field(description="SHA-256 of that model's prompt.")
    persona: str
    published: UUID | None = Field(description="The task set that the approved version came into.")
    created_at: datetime
    updated_at: datetime


class DraftCheck(ReadModel):
    """One automatic check before people review."""

    name: str = Field(examples=["duplicates"])
    title: str
    findings: list[str]
    blocking: bool = Field(description="A draft with this can be neither tried nor submitted.")


class DraftTrialView(ReadModel):
    """Result of the newest trial."""

    version: int
    current: bool = Field(description="Whether it was made with the draft's current content.")
    complete: bool
    sound: bool
    scores: dict[str, float | None]
    runs: dict[str, UUID]
    run_states: dict[str, RunState] = Field(description="Of the runs, by agent.")
    wrong: list[str]
    unknown: str
    created_at: datetime

    @property
    def only_noop(self) -> bool:
        """The only problem is that doing nothing scores, which the author may explain."""
        return self.complete and not self.unknown and len(self.wrong) == 1 and bool(self.scores.get("noop"))


class DraftReview(ReadModel):
    """One person's review of one version."""

    version: int
    by: str
    verdict: ReviewVerdict
    rejection_reason: RejectionReason | None
    comment: str
    created_at: datetime


class DraftVersion(ReadModel):
    """One version."""

    number: int
    by: str
    note: str
    content_hash: str
    created_at: datetime


class DraftRecording(ReadModel):
    """One recording."""

    id: UUID
    kind: RecordingKind
    run: UUID
    run_state: RunState
    episode: UUID
    episode_state: EpisodeState
    ended: bool
    used_in_version: int | None
    steps: list[dict[str, Any]]
    descriptions: list[str]
    problems: list[str]
    created_at: datetime


class DraftDetail(DraftView):
    """A draft in full."""

    content: dict[str, Any]
    missing: list[str]
    checks: list[DraftCheck]
    trial: DraftTrialView | None
    noop_justification: str
    reviews: list[DraftReview]
    versions: list[DraftVersion]
    recordings: list[DraftRecording]


class DraftContentView(ReadModel):
    """Content of one version of a draft."""

    number: int
    content: dict[str, Any]


class PublishedView(ReadModel):
    """The new version of a benchmark."""

    benchmark: str
    version: int
    tasks: int
    drafts: list[UUID]


class PluginView(ReadModel):
    """Parameters of one set-up step, getter or metric."""

    kind: Literal["setup", "getter", "metric"]
    name: str
    dialect: str
    about: str
    parameters: dict[str, Any] | None = Field(description="JSON schema; null = any JSON object.")
    expects: bool | None = Field(description="Of a metric: whether it compares with an expectation; null = it may.")


class DraftRequestView(ReadModel):
    """Result of a request for drafts."""

    id: UUID
    persona: str
    requested_count: int
    endpoint: str
    model: str
    state: DraftRequestState
    message: str
    created_count: int
    usage: dict[str, Any]
    created_at: datetime
    ended_at: datetime | None


FIELDS = (
    "id", "benchmark", "key", "instruction", "state", "rejection_reason", "rejection_comment", "version",
    "content_hash", "approvals", "author_kind", "model", "prompt_hash", "persona", "created_at", "updated_at",
)  # fmt: skip


def _draft(row: TaskDraft, author: str) -> DraftView:
    """One row."""
    columns = {name: getattr(row, name) for name in FIELDS}
    return DraftView.model_validate({**columns, "author": author, "published": row.published_task_set_id})


def draft_views(session: Session, drafts: Sequence[TaskDraft]) -> list[DraftView]:
    """Several rows with their authors."""
    names = repository.names(session, {row.author_id for row in drafts})
    return [_draft(row, names[row.author_id]) for row in drafts]


def draft_detail(session: Session, row: TaskDraft, store: ArtifactStore) -> DraftDetail:
    """A draft in full."""
    content = drafts.content_of(session, row)
    checks = draft_checks.checks_of(session, row, content)
    return DraftDetail(
        **dict(draft_views(session, [row])[0]),
        content=content.model_dump(mode="json"),
        missing=missing(content),
        checks=[DraftCheck(name=c.name, title=c.title, findings=list(c.findings), blocking=c.stops) for c in checks],
        trial=_trial_view(latest_trial(session, row)),
        noop_justification=row.noop_justification,
        reviews=[
            DraftReview.model_validate(
                {**_own(entry.review, "version verdict rejection_reason comment created_at"), "by": entry.by}
            )
            for entry in draft_reviews.review_notes(session, row)
        ],
        versions=[
            DraftVersion.model_validate(
                {**_own(version.version, "number note content_hash created_at"), "by": version.by}
            )
            for version in drafts.history(session, row)
        ],
        recordings=[_recording(view) for view in draft_recordings.list_recordings(session, row, store)],
    )


def _recording(view: Recording) -> DraftRecording:
    """One recording."""
    return DraftRecording.model_validate(
        {
            **_own(view.row, "id kind used_in_version created_at"),
            "run": view.run.id,
            "run_state": view.run.state,
            "episode": view.episode.id,
            "episode_state": view.episode.state,
            "ended": view.over,
            "steps": [dict(step) for step in view.steps],
            "descriptions": list(view.words),
            "problems": list(view.problems),
        }
    )


def request_view(row: TaskDraftRequest) -> DraftRequestView:
    """Result of a request to a model."""
    columns = _own(row, "id persona state message requested_count created_count usage created_at ended_at")
    parameters = {"endpoint": row.model_request["endpoint"], "model": row.model_request["model"]}
    return DraftRequestView.model_validate({**columns, **parameters})


def form_view(plugin_form: PluginForm) -> PluginView:
    """One plug-in's form."""
    return PluginView.model_validate(
        {
            "kind": plugin_form.kind.name.lower(),
            "name": plugin_form.name,
            "dialect": plugin_form.dialect,
            "about": plugin_form.about,
            "parameters": plugin_form.schema,
            "expects": plugin_form.expects,
        }
    )


def _trial_view(trial: DraftTrialResult | None) -> DraftTrialView | None:
    if trial is None:
        return None
    return DraftTrialView(
        version=trial.row.version,
        current=trial.current,
        complete=trial.complete,
        sound=trial.sound,
        scores=dict(trial.scores),
        runs={agent: run.id for agent, run in trial.runs.items()},
        run_states={agent: run.state for agent, run in trial.runs.items()},
        wrong=list(trial.wrong),
        unknown=trial.unknown,
        created_at=trial.row.created_at,
    )


def _own(row: object, names: str) -> dict[str, object]:
    return {name: getattr(row, name) for name in names.split()}
