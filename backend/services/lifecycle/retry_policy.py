"""Retry policy: what happens to the episode of a lost attempt."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Attempt, Episode, Evaluation, Reevaluation, Run
from backend.db.models.enums import ReevaluationState
from backend.db.repositories.attempts import attempts as repository
from backend.db.repositories.attempts import reevaluations
from backend.db.repositories.capacity import workers
from backend.db.repositories.people import human_agent
from backend.domain.errors import AttemptFailure, EvaluatorFailed, NotFound
from backend.domain.model.episode import AttemptState, EpisodeState, Outcome, RunState, next_try, repeat_pause
from backend.domain.model.reason import Reason, ReasonCode
from backend.services import events
from backend.services.events import EventKind, worker_wakeup
from backend.services.lifecycle import human_runs, remote_runs, validation_results
from backend.services.lifecycle.state_transitions import (
    EpisodeChange,
    move_attempt,
    move_episode,
    move_run,
    reason_columns,
    settle,
    wait_columns,
)

MESSAGE_LIMIT = 4000
NEVER_BY_ITSELF = datetime(9998, 1, 1, tzinfo=UTC)
"""Start time of an episode whose evaluation is repeated: never by itself, it needs no desktop."""
RETRY_COLUMNS: EpisodeChange = {
    "outcome": None,
    "failure_class": None,
    "failure_code": None,
    "failure_message": "",
    "ended_at": None,
    "ended_by": None,
    "steps": 0,
}
"""Columns of a lost episode that waits again."""


@dataclass(frozen=True)
class ReevaluationRequest:
    """How to repeat an evaluation.

    Attributes:
        actor_id: requesting actor; None = the retry policy.
        task_id: task to evaluate by; None = the episode's own.
        judge: another judge (`backend.domain.model.judge_config.JudgeConfig`); empty = the run's.
        anew: repeat the whole episode if no evaluation gives a verdict.
        pause: seconds until the first repeat.
    """

    actor_id: UUID | None = None
    task_id: UUID | None = None
    judge: Mapping[str, Any] = field(default_factory=dict)
    anew: bool = False
    pause: float = 0.0


def lose(  # noqa: PLR0913 - what is known of a loss
    session: Session,
    run: Run,
    attempt_id: UUID,
    failure: AttemptFailure,
    *,
    seconds: Mapping[str, float] | None = None,
    after_action: bool = False,
    evaluation: Evaluation | None = None,
) -> None:
    """Ends a live attempt as lost and decides about its episode: retry, or lost.

    Args:
        session: the transaction.
        run: its run, locked.
        attempt_id: a live attempt.
        failure: why; its class decides about retries.
        seconds: seconds by phase.
        after_action: the agent had acted, and nothing explains the loss.
        evaluation: its evidence, if only the verdict is missing.
    """
    rows = repository.get_locked(session, attempt_id)
    if rows is None:
        raise NotFound(f"there is no attempt {attempt_id}", code="attempt_not_found")
    attempt, episode, _ = rows
    move_attempt(
        session,
        run,
        attempt,
        AttemptState.LOST,
        ended_at=workers.now(session),
        seconds={**attempt.seconds, **(seconds or {})},
        failure_class=failure.failure_class.value,
        failure_code=failure.code,
        failure_message=failure.message[:MESSAGE_LIMIT],
        after_action=after_action,
    )
    session.flush()  # The losses counted below include this one.
    after_loss(session, run, episode, attempt, evaluation)
    settle(session, run)


def after_loss(
    session: Session, run: Run, episode: Episode, attempt: Attempt, evaluation: Evaluation | None = None
) -> None:
    """Moves the episode of a lost attempt; `evaluation`: its evidence, if only the verdict is missing."""
    if RunState(run.state) is RunState.CANCELLED:
        now, outcome = workers.now(session), Outcome.CANCELLED.value
        move_episode(session, run, episode, EpisodeState.CANCELLED, outcome=outcome, ended_at=now)
        validation_results.note(session, run, episode, None)
        return
    if attempt.failure_code in EvaluatorFailed.final_codes:
        give_up(session, run, episode, attempt, attempt.failure_message)
        return
    if evaluation is not None:
        repeat(session, run, episode, evaluation, ReevaluationRequest(pause=repeat_pause(0) or 0.0))
        return
    if attempt.after_action:
        flag(session, run, episode, attempt)
    delay = next_try(repository.losses(session, episode.id, episode.retry_baseline))
    if delay is not None:
        move_episode(session, run, episode, EpisodeState.WAITING, **_next(session, run, attempt, delay))
        worker_wakeup.wake_workers(session)
        return
    give_up(session, run, episode, attempt, attempt.failure_message)


def _next(session: Session, run: Run, attempt: Attempt, delay: float) -> EpisodeChange:
    """Columns of an episode that gets another attempt: after `delay` seconds, or when its person or program is there.

    A person may have left meanwhile, and a program may have ended with the desktop: an attempt without them would time
    out and be scored.
    """
    lost = f"attempt {attempt.number} was lost ({attempt.failure_class})"
    if _of_person(session, run):
        text = f"{lost}, and its desktop with it; it waits for its person to restart it"
        return human_runs.waiting_columns(Reason(ReasonCode.PERSON_AGAIN, text))
    if remote_runs.is_remote(run) and attempt.first_observation_at is not None:
        return remote_runs.waiting_columns(f"{lost}, and its desktop with it")
    text = f"{lost}; " + (f"tried again after {delay:g} s" if delay else "to be tried again")
    reason = Reason(ReasonCode.RETRY_DELAY, text)
    return wait_columns(workers.now(session) + timedelta(seconds=delay), reason)


def give_up(session: Session, run: Run, episode: Episode, attempt: Attempt, message: str) -> None:
    """Ends the episode as lost, like its last attempt."""
    move_episode(
        session,
        run,
        episode,
        EpisodeState.LOST,
        outcome=Outcome.LOST.value,
        failure_class=attempt.failure_class,
        failure_code=attempt.failure_code,
        failure_message=message,
        ended_by=attempt.ended_by,
        ended_at=workers.now(session),
        steps=attempt.current_step,
        **reason_columns(None),
    )
    validation_results.note(session, run, episode, None)


def repeat(session: Session, run: Run, episode: Episode, evaluation: Evaluation, request: ReevaluationRequest) -> UUID:
    """Requests a repeated evaluation of stored evidence; until then the episode waits and cannot be started.

    Args:
        session: the transaction.
        run: its run, locked.
        episode: running, or lost.
        evaluation: evidence of its last attempt.
        request: options of the evaluation.

    Returns:
        The request's id.
    """
    change = wait_columns(NEVER_BY_ITSELF, _reevaluation_reason(request.pause))
    if episode.state != EpisodeState.RUNNING:
        change = {**RETRY_COLUMNS, **change}
    move_episode(session, run, episode, EpisodeState.WAITING, **change)
    if RunState(run.state) is RunState.COMPLETED:
        move_run(session, run, RunState.RUNNING, ended_at=None)
    values = {
        "episode_id": episode.id,
        "attempt_id": evaluation.attempt_id,
        "task_id": request.task_id or episode.task_id,
        "previous_evaluation_id": evaluation.id,
        "actor_id": request.actor_id,
        "make_current": True,
        "judge": dict(request.judge),
        "rerun_if_undecided": request.anew,
        "available_at": workers.now(session) + timedelta(seconds=request.pause),
    }
    rescore_id = reevaluations.put(session, values)
    worker_wakeup.wake_workers(session)
    return rescore_id


def still_waits(episode: Episode, attempt: Attempt) -> bool:
    """Whether a repetition may still decide: the episode was neither cancelled nor restarted meanwhile."""
    return episode.state == EpisodeState.WAITING and attempt.number == episode.attempt_count


def not_repeated(  # noqa: PLR0913 - what is known of a failed repetition
    session: Session, row: Reevaluation, run: Run, episode: Episode, message: str, *, is_final: bool = False
) -> None:
    """A repetition gave no verdict either: it is repeated after a longer pause, or given up.

    Args:
        session: the transaction.
        row: the request, locked like the others.
        run: its run.
        episode: its episode.
        message: why there is no verdict.
        is_final: whether every repetition would fail in the same way: it is given up at once.
    """
    attempt = repository.get(session, row.attempt_id)
    if attempt is None or not still_waits(episode, attempt):
        message = f"the episode went on without it: it is {episode.state}"
    else:
        row.tries += 1
        pause = None if is_final else repeat_pause(row.tries)
        if pause is not None:
            row.message, row.available_at = message, workers.now(session) + timedelta(seconds=pause)
            reason = _reevaluation_reason(pause)
            episode.reason, episode.reason_code = reason.text, reason.code
            return
        if not is_final:
            message = f"{message} (the evaluation was repeated {row.tries} times)"
        if row.rerun_if_undecided:
            _begin_anew(session, run, episode)
        else:
            give_up(session, run, episode, attempt, message[:MESSAGE_LIMIT])
        settle(session, run)
    row.state, row.message, row.ended_at = ReevaluationState.FAILED.value, message, workers.now(session)


def waiting(session: Session, run: Run) -> EpisodeChange:
    """Columns of an episode to restart: now, after its person's answer, or when its program connects."""
    if _of_person(session, run):
        return human_runs.waiting_columns()
    if remote_runs.is_remote(run):
        return remote_runs.waiting_columns()
    return wait_columns(workers.now(session), None)


def _of_person(session: Session, run: Run) -> bool:
    agent = human_agent.agent_of(session, run.id)
    return agent is not None and agent.human


def _begin_anew(session: Session, run: Run, episode: Episode) -> None:
    for name, value in waiting(session, run).items():
        setattr(episode, name, value)
    worker_wakeup.wake_workers(session)


def _reevaluation_reason(pause: float) -> Reason:
    text = "there was no verdict; the evaluation is repeated" + (f" after {pause:g} s" if pause else "")
    return Reason(ReasonCode.REEVALUATION, text)


def flag(session: Session, run: Run, episode: Episode, attempt: Attempt) -> None:
    """Flags an episode for people: the agent may have caused the loss, and got another attempt by it."""
    episode.flagged = True
    episode.flag_reason = (
        f"attempt {attempt.number} was lost after the agent had acted, and nothing explains the loss: "
        "the agent may have ended its desktop"
    )
    events.append(session, run, EventKind.FLAG, {"reason": episode.flag_reason}, episode_id=episode.id)
