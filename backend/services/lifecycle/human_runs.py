"""Runs with a person as the agent: when and in which order episodes start, and the person's answers."""

import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Attempt, Episode, Run
from backend.db.models.enums import Purpose
from backend.db.repositories.attempts import attempts as repository
from backend.domain.model.episode import EpisodeState
from backend.domain.model.reason import Reason, ReasonCode
from backend.domain.model.run import RunConfig, Settle
from backend.services.lifecycle.state_transitions import EpisodeChange, wait_columns

T = TypeVar("T")
LATER = datetime(9999, 1, 1, tzinfo=UTC)
"""Start time of an episode that waits for its person: never by itself."""
WAITS = Reason(ReasonCode.PERSON, "waiting for a person")
HUMAN = "human"
"""The agent that is a person."""
MOST_STEPS = 300
"""Default step budget of a person: they are not hurried, and each action is a step."""
QUICK = Settle(quiet=0.05, timeout=0.3)
"""A person sees the live screen and decides when it has settled."""
_SPENT = ("agent", "action", "settle")


def with_human_defaults(config: RunConfig) -> RunConfig:
    """The configuration with defaults that suit a person."""
    budget = config.budget
    if budget.max_steps is None:
        budget = budget.model_copy(update={"max_steps": MOST_STEPS})
    settle = QUICK if config.settle == Settle() else config.settle
    return config.model_copy(update={"budget": budget, "settle": settle})


def shuffle_tasks(tasks: Sequence[T], seed: int) -> list[T]:
    """The tasks in the random order of the seed."""
    order = list(tasks)
    random.Random(seed).shuffle(order)  # noqa: S311 - an order that can be repeated, no secret
    return order


def waiting_columns(reason: Reason | None = None) -> EpisodeChange:
    """Columns of an episode that waits for its person and for nothing else."""
    return wait_columns(LATER, reason or WAITS)


def is_lost(episode: Episode) -> bool:
    """Whether it waits for its person because an attempt was lost: they may restart it."""
    postponed = episode.state == EpisodeState.WAITING and episode.available_at == LATER
    return postponed and episode.reason_code != WAITS.code


def seconds_of(seconds: Mapping[str, Any]) -> float:
    """A person's time, from an attempt's seconds by phase: from the first picture to the last action."""
    return float(sum(float(seconds.get(name) or 0.0) for name in _SPENT))


def note(session: Session, run: Run, episode: Episode, attempt: Attempt) -> None:
    """Records the result of a second try with the attempt that failed before. Does nothing for other episodes."""
    tried = (episode.human_feedback or {}).get("second_try_of")
    if run.purpose != Purpose.PRACTICE or not tried:
        return
    first = repository.get(session, UUID(str(tried)))
    if first is None:
        return
    result = {
        "episode": str(episode.id),
        "steps": attempt.current_step,
        "seconds": round(seconds_of(attempt.seconds), 3),
        "solved": bool(episode.solved),
    }
    first.human_feedback = {**(first.human_feedback or {}), "second_try": result}
