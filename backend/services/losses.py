"""An attempt is lost: what becomes of its episode. The one place of the retry policy."""

from collections.abc import Mapping
from datetime import timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Attempt, Episode, Run
from backend.db.repositories import attempts as repository
from backend.db.repositories import workers
from backend.domain.episode import AttemptState, EpisodeState, Outcome, RunState, may_retry, retry_delay
from backend.domain.errors import FailureClass, NotFound
from backend.services import events, queue, validation_results
from backend.services.events import Kind
from backend.services.moves import move, settle

MESSAGE_LIMIT = 4000
_SUSPICIOUS = 2


def lose(  # noqa: PLR0913 - what is known of a loss
    session: Session,
    run: Run,
    attempt_id: UUID,
    failure: FailureClass,
    message: str,
    *,
    seconds: Mapping[str, float] | None = None,
    after_action: bool = False,
) -> None:
    """Ends a live attempt as lost and decides on its episode: wait for another attempt, or be lost.

    Args:
        session: the transaction.
        run: its run, locked.
        attempt_id: a live attempt.
        failure: the class, which decides on another attempt.
        message: what happened, for people.
        seconds: seconds by phase.
        after_action: it came right after an action of the agent.
    """
    found = repository.locked(session, attempt_id)
    if found is None:
        raise NotFound(f"there is no attempt {attempt_id}")
    attempt, episode, _ = found
    ended = {"failure_class": failure.value, "failure_message": message[:MESSAGE_LIMIT], "after_action": after_action}
    spent = {**attempt.seconds, **(seconds or {})}
    move(session, run, attempt, AttemptState.LOST, ended_at=workers.now(session), seconds=spent, **ended)
    session.flush()  # The losses counted below include this one.
    after_loss(session, run, episode, attempt)
    settle(session, run)


def after_loss(session: Session, run: Run, episode: Episode, attempt: Attempt) -> None:
    """Moves the episode of an attempt that has just been lost."""
    failure, now = FailureClass(str(attempt.failure_class)), workers.now(session)
    if RunState(run.state) is RunState.CANCELLED:
        move(session, run, episode, EpisodeState.CANCELLED, outcome=Outcome.CANCELLED.value, ended_at=now)
        validation_results.note(session, run, episode, None)
        return
    known = repository.losses(session, episode.id, episode.retries_from)
    of_class = sum(kind == failure.value for kind, _ in known)
    if may_retry(failure, of_class):
        delay = retry_delay(failure, of_class)
        reason = f"attempt {attempt.number} was lost ({failure.value}); " + (
            f"tried again after {delay:g} s" if delay else "to be tried again"
        )
        move(session, run, episode, EpisodeState.WAITING, reason=reason, available_at=now + timedelta(seconds=delay))
        queue.wake_workers(session)
        return
    ended = {"failure_class": failure.value, "failure_message": attempt.failure_message, "ended_by": attempt.ended_by}
    counts = {"outcome": Outcome.LOST.value, "ended_at": now, "steps": attempt.current_step}
    move(session, run, episode, EpisodeState.LOST, **counts, **ended)
    if len(known) >= _SUSPICIOUS and all(after for _, after in known):
        flag(session, run, episode, len(known))
    validation_results.note(session, run, episode, None)


def flag(session: Session, run: Run, episode: Episode, number: int) -> None:
    """Asks a person to look: the agent may have killed its desktop, which would make the loss its own doing."""
    episode.flagged = True
    episode.flag_reason = (
        f"all {number} attempts were lost right after an action: the agent may have killed its desktop"
    )
    events.append(session, run, Kind.FLAG, {"reason": episode.flag_reason}, episode_id=episode.id)
