"""Bodies of requests about drafts."""

from typing import Any
from uuid import UUID

from pydantic import Field

from backend.db.models.enums import RecordingKind
from backend.domain.drafts.states import RejectionReason
from backend.services.accounts.projects import LONGEST_NAME
from backend.web.api_common import RequestModel

CONTENT = {
    "domain": "editor",
    "name": "add_milk",
    "instruction": 'Add the item "milk" as a new last line to shopping.txt and save the file.',
}
_BY = Field(default="", max_length=LONGEST_NAME, description="Reviewer's name; `local` if empty.", examples=["ada"])
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
    """Provider and settings of a trial."""

    provider: str = Field(default="local", min_length=1, max_length=100)


class DraftSubmit(RequestModel):
    """A draft for review."""

    noop_justification: str = Field(
        default="", max_length=2000, description="Why doing nothing scores more than 0, where it does."
    )


class DraftApproval(RequestModel):
    """One person's approval of one version."""

    version: int = Field(ge=1, le=2**31, description="The version that was reviewed.")
    by: str = _BY
    comment: str = Field(default="", max_length=2000)


class DraftRejection(RequestModel):
    """One person's rejection of one version."""

    version: int = Field(ge=1, le=2**31, description="The version that was reviewed.")
    reason: RejectionReason
    by: str = _BY
    comment: str = Field(default="", max_length=2000)


class DraftPublish(RequestModel):
    """Approved drafts to publish in the next version of a benchmark."""

    benchmark: str = _BENCHMARK
    drafts: list[UUID] = Field(default=[], max_length=500, description="Drafts to publish; empty = all approved ones.")


class RecordingBody(RequestModel):
    """A desktop on which a person performs the set-up or the solution."""

    kind: RecordingKind
    by: str = _BY
    provider: str = Field(default="local", min_length=1, max_length=100)


class RecordingApplyBody(RequestModel):
    """How to use a recording in the draft."""

    by: str = _BY


class DraftRequestBody(RequestModel):
    """Request for drafts by a model."""

    persona: str = Field(min_length=1, max_length=2000, examples=["A librarian who keeps lists of loans."])
    count: int = Field(default=3, ge=1, le=20)
    endpoint: str = Field(min_length=1, max_length=100, examples=["openai"])
    model: str = Field(min_length=1, max_length=200, examples=["gpt-4o"])
    benchmark: str = _BENCHMARK
    temperature: float | None = Field(default=None, ge=0, le=2)
    by: str = _BY
