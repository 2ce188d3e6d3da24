"""REST schemas of drafts."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from backend.db.models.enums import DraftAuthor, DraftRequestState, RecordingKind, ReviewVerdict
from backend.domain.drafts.states import DraftState, RejectionReason
from backend.services.accounts.projects import LONGEST_NAME
from backend.services.read_model import ReadModel
from backend.web.api_common import RequestModel

CONTENT = {
    "domain": "editor",
    "name": "add_milk",
    "instruction": 'Add the item "milk" as a new last line to shopping.txt and save the file.',
}
_BY = Field(
    default="", max_length=LONGEST_NAME, description="Who says so, by name; `local` if empty.", examples=["ada"]
)
_BENCHMARK = Field(default="own", min_length=1, max_length=100, description="What it becomes part of.")


class DraftBody(RequestModel):
    """A new draft."""

    content: dict[str, Any] = Field(description="As `content` of a draft gives it back.", examples=[CONTENT])
    benchmark: str = _BENCHMARK
    by: str = _BY


class DraftEdit(RequestModel):
    """A new version of a draft."""

    content: dict[str, Any] = Field(description="The whole content; nothing of the old one stays.", examples=[CONTENT])
    by: str = _BY


class DraftTrialBody(RequestModel):
    """Where a trial runs."""

    provider: str = Field(default="local", min_length=1, max_length=100)


class DraftSubmit(RequestModel):
    """A draft for review."""

    noop_justification: str = Field(
        default="", max_length=2000, description="Why doing nothing scores more than 0, where it does."
    )


class DraftApproval(RequestModel):
    """One person's yes to one version."""

    version: int = Field(ge=1, le=2**31, description="The version that was looked at.")
    by: str = _BY
    comment: str = Field(default="", max_length=2000)


class DraftRejection(RequestModel):
    """One person's no to one version."""

    version: int = Field(ge=1, le=2**31, description="The version that was looked at.")
    reason: RejectionReason
    by: str = _BY
    comment: str = Field(default="", max_length=2000)


class DraftPublish(RequestModel):
    """Approved drafts that become part of the next version of a benchmark."""

    benchmark: str = _BENCHMARK
    drafts: list[UUID] = Field(default=[], max_length=500, description="Only these; empty = all that are approved.")


class RecordingBody(RequestModel):
    """A desktop on which somebody performs the set-up or the solution."""

    kind: RecordingKind
    by: str = _BY
    provider: str = Field(default="local", min_length=1, max_length=100)


class RecordingApplyBody(RequestModel):
    """A recording becomes part of the draft."""

    by: str = _BY


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
    prompt_hash: str = Field(description="Sha256 of what that model was asked.")
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
    current: bool = Field(description="It was made with what the draft holds now.")
    done: bool
    sound: bool
    scores: dict[str, float | None]
    runs: dict[str, UUID]
    wrong: list[str]
    unknown: str
    created_at: datetime


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
    episode: UUID
    ended: bool
    used_in_version: int | None
    steps: list[dict[str, Any]]
    descriptions: list[str]
    problems: list[str]


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
    """What one version of a draft held."""

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


class DraftRequestBody(RequestModel):
    """Drafts that a model is to write."""

    persona: str = Field(min_length=1, max_length=2000, examples=["A librarian who keeps lists of loans."])
    count: int = Field(default=3, ge=1, le=20)
    endpoint: str = Field(min_length=1, max_length=100, examples=["openai"])
    model: str = Field(min_length=1, max_length=200, examples=["gpt-4o"])
    benchmark: str = _BENCHMARK
    temperature: float | None = Field(default=None, ge=0, le=2)
    by: str = _BY


class DraftRequestView(ReadModel):
    """What became of a request for drafts."""

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
