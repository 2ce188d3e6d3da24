"""Views of drafts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from backend.db.models import Actor, Project, TaskDraft
from backend.db.repositories.authoring import drafts as repository
from backend.db.repositories.pagination import CursorPage
from backend.domain.drafts.checks import ContentCheck
from backend.domain.drafts.content import DraftContent, missing
from backend.domain.drafts.states import NEEDED, REASON_WORDS, DraftState, RejectionReason
from backend.domain.model.episode import RunState
from backend.domain.ports.storage import ArtifactStore
from backend.domain.registry import PluginKind
from backend.services.authoring import draft_checks, draft_forms, draft_recordings, draft_reviews, drafts
from backend.services.authoring.draft_forms import CheckRow, Plugin, SolutionRow
from backend.services.authoring.draft_recordings import RecordingView as Recording
from backend.services.authoring.draft_reviews import ReviewNote
from backend.services.authoring.draft_trials import DraftTrialResult, latest_trial
from backend.services.authoring.drafts import DraftChange

STATE_WORDS: Mapping[str, str] = {
    DraftState.DRAFT: "draft",
    DraftState.IN_REVIEW: "in review",
    DraftState.APPROVED: "approved",
    DraftState.REJECTED: "rejected",
}
MOST_STREAMS = 6
ENDED = frozenset({RunState.COMPLETED, RunState.CANCELLED})


@dataclass(frozen=True)
class DraftList:
    """The list page. `waiting`: approved, unpublished drafts by benchmark."""

    page: CursorPage[TaskDraft]
    authors: Mapping[str, str]
    counts: Mapping[str, int]
    waiting: Mapping[str, int]


@dataclass(frozen=True)
class DraftPage:
    """One draft.

    Attributes:
        lacks: what is missing for a trial.
        stops: whether a check found something that must not be tried.
        streams: its running runs, whose events update the page.
        refusal: why the viewer may not review it; empty if they may.
        needed: number of missing approvals.
    """

    row: TaskDraft
    content: DraftContent
    author: str
    lacks: Sequence[str]
    checks: Sequence[ContentCheck]
    stops: bool
    tried: DraftTrialResult | None
    streams: Sequence[str]
    reviews: Sequence[ReviewNote]
    refusal: str
    needed: int
    versions: Sequence[DraftChange]
    recordings: Sequence[Recording]
    steps: Sequence[Plugin]
    metrics: Sequence[CheckRow]
    solution: Sequence[SolutionRow]
    offers: Mapping[str, Sequence[str]]
    dialects: Sequence[str]
    reasons: Mapping[RejectionReason, str]


def draft_list(  # noqa: PLR0913 - one keyword per thing to ask by
    session: Session, project: Project, *, state: str, words: str, benchmark: str | None, cursor: str | None
) -> DraftList:
    """Drafts, newest first."""
    page = drafts.list_drafts(
        session, project, states=[state] if state else [], words=words, benchmark=benchmark, cursor=cursor
    )
    names = repository.names(session, {row.author_id for row in page.items})
    return DraftList(
        page=page,
        authors={str(key): name for key, name in names.items()},
        counts=repository.counts(session, project.id),
        waiting=repository.waiting(session, project.id),
    )


def draft_page(
    session: Session, row: TaskDraft, actor: Actor, store: ArtifactStore, content: DraftContent | None = None
) -> DraftPage:
    """One draft as seen by `actor`. `content`: submitted, rejected content to show again."""
    current = drafts.content_of(session, row)
    shown = content or current
    checks = draft_checks.checks_of(session, row, current)
    trial = latest_trial(session, row)
    recordings = draft_recordings.list_recordings(session, row, store)
    return DraftPage(
        row=row,
        content=shown,
        author=repository.names(session, {row.author_id})[row.author_id],
        lacks=missing(current),
        checks=checks,
        stops=any(check.stops for check in checks),
        tried=trial,
        streams=_streams(trial, recordings),
        reviews=draft_reviews.review_notes(session, row),
        refusal=draft_reviews.may_review(session, row, actor),
        needed=max(0, NEEDED - row.approvals),
        versions=drafts.history(session, row),
        recordings=recordings,
        steps=draft_forms.step_rows(shown),
        metrics=draft_forms.check_rows(shown),
        solution=draft_forms.solution_rows(shown),
        offers={kind.name.lower(): draft_forms.names(kind, shown.dialect) for kind in _NAMED},
        dialects=draft_forms.dialects(),
        reasons=REASON_WORDS,
    )


_NAMED = (PluginKind.SETUP, PluginKind.GETTER, PluginKind.METRIC)


def _streams(trial: DraftTrialResult | None, recordings: Sequence[Recording]) -> list[str]:
    """Ids of runs that have not ended."""
    going = [view.run for view in recordings if view.run.state not in ENDED]
    if trial is not None:
        going += [run for run in trial.runs.values() if run.state not in ENDED]
    return [str(run.id) for run in going[:MOST_STREAMS]]
