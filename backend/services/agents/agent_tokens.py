"""Tokens for external programs. A token gives access to one episode's channel only."""

import hashlib
import secrets
from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Episode, Run
from backend.db.repositories.agents import agent_tokens as repository
from backend.db.repositories.attempts import attempts
from backend.db.repositories.capacity import workers
from backend.db.repositories.runs import episodes, runs
from backend.domain.errors import Conflict, NotAllowed, NotFound
from backend.domain.model.episode import AttemptState, EpisodeState, RunState
from backend.services.benchmarks.variants import task_of
from backend.services.events import worker_wakeup
from backend.services.lifecycle import retry_policy
from backend.services.lifecycle.remote_runs import REMOTE, waits_for_program
from backend.services.lifecycle.state_transitions import settle
from backend.services.runs.episodes import steps_of

PREFIX = "dka_"


class InvalidToken(NotAllowed):
    """The token does not exist or was replaced (401)."""

    status = 401
    code = "invalid_agent_token"


@dataclass(frozen=True)
class Pass:
    """The episode that a token gives access to, in its current state.

    Attributes:
        attempt_id: the newest attempt; None before the first.
        attempt: its number, from 1; 0 before the first.
        attempt_state: likewise.
        state: of the episode.
        awaits_restart: it is waiting for its program: its desktop was lost, or a retry was requested.
    """

    episode_id: UUID
    run_id: UUID
    task: str
    instruction: str
    state: EpisodeState
    attempt_id: UUID | None = None
    attempt: int = 0
    attempt_state: AttemptState | None = None
    outcome: str | None = None
    ended_by: str | None = None
    failure_class: str | None = None
    reason: str = ""
    reason_code: str | None = None
    score: float | None = None
    solved: bool | None = None
    steps: int = 0
    awaits_restart: bool = False

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self.state not in {EpisodeState.WAITING, EpisodeState.RUNNING}

    @property
    def acting(self) -> bool:
        """Whether the agent's part of the newest attempt is running or still to come."""
        return not self.over and self.attempt_state is not AttemptState.EVALUATING

    @property
    def running(self) -> bool:
        """Whether the agent's part of the newest attempt is running."""
        return self.state is EpisodeState.RUNNING and self.attempt_state is AttemptState.RUNNING


def issue(session: Session, episode_id: UUID, *, agents: frozenset[str] = REMOTE) -> str:
    """Issues a new token, which replaces the previous one. Only its hash is stored.

    Raises:
        NotFound: There is no such episode.
        Conflict: the run's agent is not one of `agents`, or the episode has ended.
    """
    rows = repository.get_locked(session, episode_id)
    if rows is None:
        raise NotFound(f"there is no episode {episode_id}", code="episode_not_found")
    episode, run = rows
    agent = str(run.config.get("agent"))
    if agent not in agents:
        raise Conflict(
            f"the agent of this run is {agent!r}, which takes no answers from outside",
            code="agent_not_remote",
            hint="Submit it as `remote`.",
        )
    if EpisodeState(episode.state) not in {EpisodeState.WAITING, EpisodeState.RUNNING}:
        raise Conflict(f"the episode has ended: it is {episode.state}", code="episode_ended")
    token = PREFIX + secrets.token_urlsafe(32)
    episode.token_sha256 = token_hash(token)
    return token


def token_hash(token: str) -> str:
    """SHA-256 (hex) of a token. Tokens are random enough to need no salt."""
    return hashlib.sha256(token.encode()).hexdigest()


def pass_of_token(session: Session, token: str) -> Pass:
    """The episode that a token gives access to. Raises InvalidToken."""
    rows = repository.by_hash(session, token_hash(token)) if token.startswith(PREFIX) else None
    if rows is None:
        raise InvalidToken(
            "this is not the token of an episode",
            hint="POST /api/v1/episodes/{id}/agent-token creates one; it is shown once.",
        )
    episode, run, row, attempt = rows
    return Pass(
        episode_id=episode.id,
        run_id=run.id,
        task=row.key,
        instruction=task_of(session, row, run.config).instruction,
        state=EpisodeState(episode.state),
        attempt_id=attempt.id if attempt else None,
        attempt=attempt.number if attempt else 0,
        attempt_state=AttemptState(attempt.state) if attempt else None,
        outcome=episode.outcome,
        ended_by=episode.ended_by,
        failure_class=episode.failure_class,
        reason=episode.reason or episode.failure_message,
        reason_code=episode.reason_code,
        score=episode.score,
        solved=episode.solved,
        steps=steps_of(episode, attempt),
        awaits_restart=waits_for_program(run, episode),
    )


def start_attempt(session: Session, token: str) -> Pass:
    """Starts an episode that is held for the token's program. Returns its new state. Raises InvalidToken."""
    status = pass_of_token(session, token)
    rows = _lock_holder(session, status)
    if rows is None or RunState(rows[0].state) not in {RunState.QUEUED, RunState.RUNNING}:
        return status
    _, episode = rows
    episode.available_at, episode.reason, episode.reason_code = workers.now(session), "", None
    worker_wakeup.wake_workers(session)
    return replace(status, awaits_restart=False, reason="", reason_code=None)


def give_up(session: Session, token: str) -> Pass:
    """Gives up an episode held for its program, which does not continue.

    Raises:
        InvalidToken: There is no such token.
        Conflict: it is not held, or no desktop has been lost yet.
    """
    status = pass_of_token(session, token)
    rows = _lock_holder(session, status)
    attempt = attempts.get(session, status.attempt_id) if status.attempt_id is not None else None
    if rows is None or attempt is None or attempt.state != AttemptState.LOST:
        raise Conflict(
            f"the episode is {status.state}: it cannot be given up",
            code="episode_not_waiting",
            hint="Read its state: GET /api/v1/agent.",
        )
    run, episode = rows
    retry_policy.give_up(session, run, episode, attempt, attempt.failure_message)
    settle(session, run)
    return status


def _lock_holder(session: Session, status: Pass) -> tuple[Run, Episode] | None:
    """Run and episode, locked, if it is still held."""
    run = runs.lock(session, status.run_id) if status.awaits_restart else None
    episode = episodes.lock(session, status.episode_id) if run is not None else None
    return (run, episode) if run is not None and episode is not None and waits_for_program(run, episode) else None
