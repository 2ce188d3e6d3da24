"""Records of attempts written by workers. Every write is fenced and idempotent.

A worker that does not know whether its commit succeeded simply repeats the call.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from sqlalchemy.orm import Session

from backend.db.models import Attempt, Episode, Run
from backend.db.models.enums import AttemptController
from backend.db.repositories.attempts import attempts as repository
from backend.db.repositories.capacity import workers
from backend.db.repositories.runs import runs
from backend.domain.errors import AttemptFailure, Conflict, LeaseLost
from backend.domain.model import score
from backend.domain.model.code_results import code_failed
from backend.domain.model.episode import AttemptState, EndedBy, EpisodeState, Outcome, RunState
from backend.domain.model.trajectory import GUEST_CALLS, StepRecord
from backend.services import events
from backend.services.artifacts import artifacts
from backend.services.artifacts.artifacts import ArtifactRef
from backend.services.attempts.evaluations import (
    EvaluationBasis,
    EvaluationResult,
    EvidenceRow,
    end_judged,
    goal_of,
    keep_unjudged,
)
from backend.services.events import EventKind
from backend.services.lifecycle import retry_policy
from backend.services.lifecycle.state_transitions import move_attempt, move_episode
from backend.services.runs.episodes import OPENING
from backend.services.runs.provenance import with_answering_model
from backend.services.scheduling.claims import Fence

__all__ = [
    "EvaluationBasis",
    "EvidenceRow",
    "Fence",
    "StepRow",
    "enter_evaluating",
    "enter_running",
    "finish_cancelled",
    "finish_lost",
    "finish_scored",
    "finish_unjudged",
    "is_cancelled",
    "note_desktop",
    "note_desktop_end",
    "note_opening",
    "record_step",
]

DESKTOP_END = "end"
"""Key of the attempt's desktop: the evidence of an end from inside."""
MOST_TEXT = 20_000
"""Maximum characters of a clipboard or a terminal in a step's row."""
_LOST = "the lease is no longer ours: the attempt was ended by somebody else"


@dataclass(frozen=True)
class StepRow:
    """A step for storing: the loop's record, with its bytes already in the artifact store.

    Attributes:
        frame: the picture; None if there is none.
        a11y: accessibility tree; None if the agent did not request it.
        agent_view: picture shown to the agent, if it differs from the frame.
        prompt: the agent's prompt to its model.
        frame_hash: 64-bit perceptual hash of the picture.
    """

    record: StepRecord
    frame: ArtifactRef | None = None
    a11y: ArtifactRef | None = None
    agent_view: ArtifactRef | None = None
    prompt: ArtifactRef | None = None
    frame_hash: int | None = field(default=None, kw_only=True)

    @property
    def artifacts(self) -> list[ArtifactRef]:
        return [ref for ref in (self.frame, self.a11y, self.agent_view, self.prompt) if ref is not None]

    @property
    def final(self) -> bool:
        """True for the final state after the agent's last step, which is not a step itself."""
        return any(result.get("final") for result in self.record.results)

    def columns(self) -> dict[str, Any]:
        """Values of the step's row, without its attempt."""
        observation, decision = self.record.observation, self.record.decision
        return {
            "index": self.record.index,
            "frame_sha256": self.frame.sha256 if self.frame else None,
            "frame_media_type": self.frame.media_type if self.frame else None,
            # As the database's signed integer of 64 bits.
            "frame_hash": None if self.frame_hash is None else self.frame_hash - (self.frame_hash >> 63 << 64),
            "width": observation.frame.width if observation.frame else None,
            "height": observation.frame.height if observation.frame else None,
            "a11y_sha256": self.a11y.sha256 if self.a11y else None,
            "agent_view_sha256": self.agent_view.sha256 if self.agent_view else None,
            "prompt_sha256": self.prompt.sha256 if self.prompt else None,
            "extras": self._extras(),
            "windows": [window.model_dump(mode="json") for window in observation.windows or ()],
            "explanation": decision.explanation,
            "reply": decision.reply,
            "actions": [action.model_dump(mode="json") for action in decision.actions],
            "results": [dict(result) for result in self.record.results],
            "invalid": decision.invalid,
            "usage": decision.usage.model_dump(mode="json"),
            "timing": self.record.timing.model_dump(mode="json"),
        }

    def _extras(self) -> dict[str, Any]:
        """Optional fields, without empty ones."""
        observation, decision = self.record.observation, self.record.decision
        extras = {
            "by": decision.by if decision.by != "agent" else None,
            "model": decision.model[:200] or None,
            "reasoning": decision.reasoning or None,
            "dropped": list(decision.dropped) or None,
            "safety_checks": [check.model_dump(mode="json") for check in decision.safety_checks] or None,
            "model_calls": [call.model_dump(mode="json") for call in decision.model_calls] or None,
            "marks": [mark.model_dump(mode="json") for mark in observation.marks]
            if observation.marks is not None
            else None,
            "view": observation.view.model_dump(mode="json") if observation.view is not None else None,
            "clipboard": observation.clipboard[:MOST_TEXT] if observation.clipboard is not None else None,
            "code_failed": code_failed(self.record.results) or None,
            "guest_calls": any(action.type in GUEST_CALLS for action in decision.actions) or None,
            "note": observation.note[:MOST_TEXT] or None,
            "tabs": list(observation.tabs) if observation.tabs is not None else None,
            "terminal": observation.terminal[:MOST_TEXT] if observation.terminal is not None else None,
        }
        return {name: value for name, value in extras.items() if value is not None}


@dataclass
class _LockedAttempt:
    """Locked rows of a fenced write."""

    run: Run
    attempt: Attempt
    episode: Episode
    repeated: bool = field(default=False)


def note_opening(session: Session, fence: Fence, facts: Mapping[str, Any]) -> None:
    """Records what the attempt waits for while its desktop is created, for `seconds` so far. Pages show it at once."""
    hold = _hold(session, fence, None)
    former = hold.attempt.desktop.get(OPENING, {})
    if {name: value for name, value in former.items() if name != "since"} == dict(facts):
        return  # The same call again.
    since = workers.now(session) - timedelta(seconds=float(facts.get("seconds", 0.0)))
    opening = {**facts, "since": since.isoformat()}
    hold.attempt.desktop = {**hold.attempt.desktop, OPENING: opening}
    data = {"number": hold.attempt.number, "phase": facts["phase"], "doing": facts["doing"]}
    events.append(
        session, hold.run, EventKind.ATTEMPT_OPENING, data, episode_id=hold.episode.id, attempt_id=hold.attempt.id
    )


def note_desktop(session: Session, fence: Fence, desktop: Mapping[str, Any]) -> None:
    """Records the provider's description of the new desktop, so that it is known even if the attempt is lost early."""
    attempt = _hold(session, fence, None).attempt
    # In addition to the image chosen by the claim.
    attempt.desktop = {**{name: value for name, value in attempt.desktop.items() if name != OPENING}, **desktop}


def note_desktop_end(session: Session, fence: Fence, end: Mapping[str, Any]) -> None:
    """Records that the desktop was ended from inside: the agent's error. `end`: a DesktopEnd as JSON."""
    attempt = _hold(session, fence, None).attempt
    attempt.desktop = {**attempt.desktop, DESKTOP_END: dict(end)}
    if AttemptState(attempt.state) is AttemptState.EVALUATING:
        attempt.ended_by = EndedBy.AGENT_ERROR.value


def enter_running(session: Session, fence: Fence, seconds: Mapping[str, float], seen_ago: float = 0.0) -> None:
    """The desktop is prepared; the agent's loop starts.

    Args:
        session: the transaction.
        fence: of the claim.
        seconds: by phase so far: `reset`, `setup`.
        seen_ago: seconds since the desktop was first seen, before set-up.
    """
    hold = _hold(session, fence, AttemptState.RUNNING)
    if hold.repeated:
        return
    observed_at = workers.now(session) - timedelta(seconds=seen_ago)
    spent = _add_seconds(hold.attempt, seconds)
    move_attempt(session, hold.run, hold.attempt, AttemptState.RUNNING, first_observation_at=observed_at, seconds=spent)


def record_step(session: Session, fence: Fence, step: StepRow) -> None:
    """Stores one step. An existing one with the same index is not changed."""
    hold = _hold(session, fence, None)
    artifacts.register_all(session, step.artifacts)
    attempt, index = hold.attempt, step.record.index
    if not repository.add_step(session, {"attempt_id": attempt.id, **step.columns()}):
        return
    pinned = with_answering_model(hold.run.pins, step.record.decision.model[:200])
    if pinned is not None:
        hold.run.pins = pinned
    if step.record.decision.by == "person" and attempt.controller == AttemptController.AGENT:
        attempt.controller = AttemptController.HUMAN_ASSISTED.value
    if not step.final:
        attempt.current_step = max(attempt.current_step, index + 1)
    actions = [action.type.value for action in step.record.decision.actions]
    data = {"index": index, "step": attempt.current_step, "actions": actions, "final": step.final}
    frame = step.frame.sha256 if step.frame else None
    events.append(
        session,
        hold.run,
        EventKind.STEP,
        data | {"frame": frame, "explanation": step.record.decision.explanation[:200]},
        episode_id=hold.episode.id,
        attempt_id=attempt.id,
    )


def enter_evaluating(session: Session, fence: Fence, ended_by: EndedBy, seconds: Mapping[str, float]) -> None:
    """The agent has stopped; the final state is being evaluated."""
    hold = _hold(session, fence, AttemptState.EVALUATING)
    if hold.repeated:
        return
    spent = _add_seconds(hold.attempt, seconds)
    hold.attempt.usage = repository.usage(session, hold.attempt.id)
    move_attempt(session, hold.run, hold.attempt, AttemptState.EVALUATING, ended_by=ended_by.value, seconds=spent)


def finish_scored(  # noqa: PLR0913 - what is known of a verdict
    session: Session,
    fence: Fence,
    evaluation: score.Evaluation,
    evidence: Sequence[EvidenceRow],
    seconds: Mapping[str, float],
    *,
    judged: EvaluationBasis | None = None,
) -> None:
    """Ends attempt and episode as scored, or as submitted.

    Args:
        session: the transaction.
        fence: of the claim.
        evaluation: the verdict; without a score, people judge the work.
        evidence: evidence of the verdict, or the submission itself.
        seconds: by phase.
        judged: what the evaluation was asked to check.
    """
    hold = _hold(session, fence, goal_of(evaluation))
    if hold.repeated:
        return
    judgement = EvaluationResult(evaluation, evidence, seconds.get("evaluation", 0.0), judged or EvaluationBasis({}))
    end_judged(session, hold.run, hold.attempt, hold.episode, judgement, spent=seconds)


def finish_unjudged(  # noqa: PLR0913 - what is known of the evidence
    session: Session,
    fence: Fence,
    failure: AttemptFailure,
    evidence: Sequence[EvidenceRow],
    seconds: Mapping[str, float],
    *,
    judged: EvaluationBasis,
) -> None:
    """The evidence is complete, but there is no verdict: the attempt is lost, its evidence stored.

    Args:
        session: the transaction.
        fence: of the claim.
        failure: why.
        evidence: everything gathered.
        seconds: by phase.
        judged: what the evaluation was asked to check.
    """
    hold = _hold(session, fence, AttemptState.LOST)
    if hold.repeated:
        return
    evaluation = keep_unjudged(
        session, hold.attempt, failure.message, evidence, seconds=seconds.get("evaluation", 0.0), judged=judged
    )
    retry_policy.lose(session, hold.run, hold.attempt.id, failure, seconds=seconds, evaluation=evaluation)


def finish_lost(
    session: Session,
    fence: Fence,
    failure: AttemptFailure,
    seconds: Mapping[str, float],
    *,
    after_action: bool = False,
) -> None:
    """Ends the attempt as lost. The episode is retried or lost, by the policy of the failure class."""
    hold = _hold(session, fence, AttemptState.LOST)
    if not hold.repeated:
        retry_policy.lose(session, hold.run, hold.attempt.id, failure, seconds=seconds, after_action=after_action)


def finish_cancelled(session: Session, fence: Fence, seconds: Mapping[str, float] | None = None) -> None:
    """The run was cancelled and the attempt has stopped.

    Raises:
        Conflict: the run is not cancelled. A worker that has to stop releases its lease instead.
    """
    hold = _hold(session, fence, AttemptState.CANCELLED)
    if hold.repeated:
        return
    if RunState(hold.run.state) is not RunState.CANCELLED:
        raise Conflict(
            "the run is not cancelled",
            code="run_not_cancelled",
            hint="Release the lease: the episode then gets another attempt.",
        )
    now = workers.now(session)
    spent = _add_seconds(hold.attempt, seconds)
    move_attempt(session, hold.run, hold.attempt, AttemptState.CANCELLED, ended_at=now, seconds=spent)
    move_episode(
        session,
        hold.run,
        hold.episode,
        EpisodeState.CANCELLED,
        outcome=Outcome.CANCELLED.value,
        ended_at=now,
        steps=hold.attempt.current_step,
    )


def is_cancelled(session: Session, fence: Fence) -> bool:
    """True once the run is cancelled. One read without a lock: called before every step."""
    state = repository.fenced_run_state(session, fence.attempt_id, fence.token)
    if state is None:
        raise LeaseLost(_LOST)
    return RunState(state) is RunState.CANCELLED


def _hold(session: Session, fence: Fence, goal: AttemptState | None) -> _LockedAttempt:
    """Locks run, attempt, episode and lease, and checks that the attempt may be written.

    Args:
        session: the transaction.
        fence: attempt and token.
        goal: target state. If the attempt is already in it, the same call was made before: `repeated`. Not if a reaper
            ended it as lost.

    Raises:
        LeaseLost: the token is stale, the lease is released, or somebody else ended the attempt.
    """
    run = runs.lock_of_attempt(session, fence.attempt_id)
    rows = repository.get_locked(session, fence.attempt_id)
    if run is None or rows is None:
        raise LeaseLost(_LOST)
    attempt, episode, lease = rows
    if not attempt.fencing_token == lease.fencing_token == fence.token:
        raise LeaseLost(_LOST)
    released = lease.released_at is not None
    if goal is not None and attempt.state == goal and not (goal is AttemptState.LOST and released):
        return _LockedAttempt(run, attempt, episode, repeated=True)
    if released or not attempt.live:
        raise LeaseLost(_LOST)
    return _LockedAttempt(run, attempt, episode)


def _add_seconds(attempt: Attempt, seconds: Mapping[str, float] | None) -> dict[str, float]:
    return {**attempt.seconds, **(seconds or {})}
