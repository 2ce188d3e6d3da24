"""Review of drafts: submitted after a sound trial, approved by enough other people, or rejected with a reason."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Actor, TaskDraft, TaskDraftReview
from backend.db.models.enums import ActorKind, ReviewVerdict, Role
from backend.db.repositories.authoring import drafts as repository
from backend.domain.drafts.states import NEEDED, DraftState, RejectionReason
from backend.domain.errors import Conflict, Invalid, NotAllowed
from backend.services.accounts.principal import principal_of
from backend.services.authoring.draft_trials import check_complete, latest_trial
from backend.services.authoring.drafts import content_of, get_locked, move

MOST_WORDS = 2000


@dataclass(frozen=True)
class ReviewNote:
    """One person's review of one version."""

    review: TaskDraftReview
    by: str


def submit(session: Session, draft_id: UUID, *, noop_justification: str = "") -> TaskDraft:
    """Submits a draft for review. Its newest version must have been tried and be sound.

    Args:
        session: the transaction.
        draft_id: a draft.
        noop_justification: why doing nothing scores more than 0, if nothing else is wrong.

    Raises:
        NotFound: There is no such draft.
        Conflict: it is not in the draft state, its current version was not tried, or it is unsound; the message says
            what to do.
        Invalid: it is incomplete; or `noop_justification` is missing or too long.
    """
    draft = get_locked(session, draft_id)
    check_complete(content_of(session, draft))
    words = noop_justification.strip()
    if len(words) > MOST_WORDS:
        raise Invalid(f"at most {MOST_WORDS} characters", code="invalid_request", path="noop_justification")
    trial = latest_trial(session, draft)
    if trial is None or not trial.current:
        raise Conflict(
            "the draft has not been tried since its last change",
            code="draft_not_tried",
            hint="Try it, then submit it.",
        )
    if not trial.complete:
        raise Conflict("the trial is still running", code="trial_running", hint="Wait until all three runs have ended.")
    if trial.only_noop and not words:
        hint = "Say why that is right, or change set-up or checks."
        raise Invalid(trial.wrong[0], code="noop_explanation_needed", path="noop_justification", hint=hint)
    if not trial.sound and not trial.only_noop:
        problems = "; ".join(trial.wrong) or trial.unknown
        raise Conflict(
            f"the trial did not show that the task is sound: {problems}",
            code="trial_failed",
            hint="Change the draft and try it again.",
        )
    move(session, draft, DraftState.IN_REVIEW, approvals=0, noop_justification=words if trial.only_noop else "")
    return draft


def approve(session: Session, draft_id: UUID, version: int, *, by: Actor, comment: str = "") -> TaskDraft:
    """Adds an approval; the draft is approved once there are enough. Raises as `_review`."""
    draft = _review(session, draft_id, version, by, ReviewVerdict.APPROVE, None, comment)
    draft.approvals = repository.approvals(session, draft.id, draft.version)
    if draft.approvals >= NEEDED:
        move(session, draft, DraftState.APPROVED)
    return draft


def reject(  # noqa: PLR0913 - a verdict and its reason
    session: Session, draft_id: UUID, version: int, *, by: Actor, reason: RejectionReason, comment: str = ""
) -> TaskDraft:
    """One rejection is enough; the author may change the draft and submit it again. Raises as `_review`."""
    draft = _review(session, draft_id, version, by, ReviewVerdict.REJECT, reason, comment)
    rejection = {"rejection_reason": reason.value, "rejection_comment": comment.strip()}
    move(session, draft, DraftState.REJECTED, approvals=0, **rejection)
    return draft


def review_notes(session: Session, draft: TaskDraft) -> Sequence[ReviewNote]:
    """Every review, newest first."""
    return [ReviewNote(row.TaskDraftReview, row.name) for row in repository.reviews(session, draft.id)]


def may_review(session: Session, draft: TaskDraft, actor: Actor) -> str:
    """Why that actor may not review the draft; empty if they may."""
    if actor.kind != ActorKind.PERSON:
        return "only people review"
    role = principal_of(session).role
    if role is None or not role.covers(Role.REVIEWER):
        return "reviewing needs the role of a reviewer"
    if actor.id in {draft.author_id, *repository.writers(session, draft.id)}:
        return "authors cannot review their own drafts"
    return ""


def _review(  # noqa: PLR0913, PLR0917 - one review
    session: Session,
    draft_id: UUID,
    version: int,
    by: Actor,
    verdict: ReviewVerdict,
    reason: RejectionReason | None,
    comment: str,
) -> TaskDraft:
    """Stores a review of the newest version.

    Raises:
        NotFound: There is no such draft.
        NotAllowed: the reviewer is its author, or not a person.
        Conflict: it is not in review, has changed since the reviewer opened it, or this person has reviewed it already.
        Invalid: The comment is too long.
    """
    draft = get_locked(session, draft_id)
    if DraftState(draft.state) is not DraftState.IN_REVIEW:
        raise Conflict(f"the draft is {draft.state.replace('_', ' ')}, not in review", code="draft_not_in_review")
    if version != draft.version:
        raise Conflict(
            f"the draft has changed: version {draft.version} is in review",
            code="draft_changed",
            hint="Review the new version.",
        )
    refusal = may_review(session, draft, by)
    if refusal:
        raise NotAllowed(f"{by.name!r} may not review this draft: {refusal}", code="reviewer_not_allowed")
    if repository.review_of(session, draft.id, version, by.id) is not None:
        raise Conflict(f"{by.name!r} has already reviewed this version", code="already_reviewed")
    if len(comment) > MOST_WORDS:
        raise Invalid(f"at most {MOST_WORDS} characters", code="invalid_request", path="comment")
    row = TaskDraftReview(
        draft_id=draft.id,
        version=version,
        actor_id=by.id,
        actor_kind=by.kind,
        verdict=verdict.value,
        rejection_reason=None if reason is None else reason.value,
        comment=comment.strip(),
    )
    session.add(row)
    session.flush()  # The approvals are counted next.
    return draft
