"""Views of drafts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from backend.db.models import Actor, Project, TaskDraft
from backend.db.repositories.authoring import drafts as repository
from backend.domain.drafts.content import DraftContent
from backend.domain.drafts.states import NEEDED, REASON_WORDS, DraftState, RejectionReason
from backend.domain.model.episode import ENDED_RUNS
from backend.domain.model.sort_order import SortOrder
from backend.domain.ports.storage import ArtifactStore
from backend.domain.registry import PluginKind
from backend.services.authoring import draft_forms, draft_reviews, drafts
from backend.services.authoring.draft_forms import CheckRow, Plugin, SolutionRow
from backend.services.authoring.views.draft import DraftDetail, DraftView, draft_detail, draft_views

STATE_WORDS: Mapping[str, str] = {
    DraftState.DRAFT: "draft",
    DraftState.IN_REVIEW: "in review",
    DraftState.APPROVED: "approved",
    DraftState.REJECTED: "rejected",
}
MOST_STREAMS = 6


@dataclass(frozen=True)
class DraftList:
    """The list page. `waiting`: approved, unpublished drafts by benchmark."""

    rows: list[DraftView]
    next: str | None
    counts: Mapping[str, int]
    waiting: Mapping[str, int]


@dataclass(frozen=True)
class DraftPage:
    """One draft.

    Attributes:
        stops: a check found a problem that prevents a trial.
        streams: its active runs, whose events update the page.
        refusal: why this person may not review it; empty if they may.
        needed: approvals that are still needed.
    """

    draft: DraftDetail
    content: DraftContent
    stops: bool
    streams: Sequence[str]
    refusal: str
    needed: int
    steps: Sequence[Plugin]
    metrics: Sequence[CheckRow]
    solution: Sequence[SolutionRow]
    offers: Mapping[str, Sequence[str]]
    dialects: Sequence[str]
    reasons: Mapping[RejectionReason, str]


def draft_list(  # noqa: PLR0913 - one keyword per thing to ask by
    session: Session, project: Project, *, state: str, words: str, cursor: str | None, order: SortOrder | None
) -> DraftList:
    """Drafts, newest first or in another order."""
    page = drafts.list_drafts(
        session, project, states=[state] if state else [], words=words, cursor=cursor, order=order
    )
    return DraftList(
        rows=draft_views(session, page.items),
        next=page.next,
        counts=repository.counts(session, project.id),
        waiting=repository.waiting(session, project.id),
    )


def draft_page(
    session: Session, row: TaskDraft, actor: Actor, store: ArtifactStore, content: DraftContent | None = None
) -> DraftPage:
    """One draft as `actor` sees it. `content`: submitted content that was not stored, to be shown again."""
    draft = draft_detail(session, row, store)
    current = content or drafts.content_of(session, row)
    return DraftPage(
        draft=draft,
        content=current,
        stops=any(check.blocking for check in draft.checks),
        streams=_streams(draft),
        refusal=draft_reviews.may_review(session, row, actor),
        needed=max(0, NEEDED - row.approvals),
        steps=draft_forms.step_rows(current),
        metrics=draft_forms.check_rows(current),
        solution=draft_forms.solution_rows(current),
        offers={kind.name.lower(): draft_forms.names(kind, current.dialect) for kind in _NAMED},
        dialects=draft_forms.dialects(),
        reasons=REASON_WORDS,
    )


_NAMED = (PluginKind.SETUP, PluginKind.GETTER, PluginKind.METRIC)


def _streams(draft: DraftDetail) -> list[str]:
    """Ids of runs that have not ended."""
    going = [recording.run for recording in draft.recordings if recording.run_state not in ENDED_RUNS]
    if draft.trial is not None:
        states = draft.trial.run_states
        going += [run for agent, run in draft.trial.runs.items() if states[agent] not in ENDED_RUNS]
    return list(map(str, going[:MOST_STREAMS]))
