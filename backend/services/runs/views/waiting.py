"""Waits of a running attempt, and whether its worker is silent."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from backend.db.models import Attempt
from backend.db.models.enums import AttemptController
from backend.domain.model.episode import AttemptState
from backend.services.lifecycle.human_runs import HUMAN
from backend.services.lifecycle.remote_runs import OUTSIDE
from backend.services.read_model import ReadModel
from backend.services.runs.episodes import OPENING


class DesktopStartup(ReadModel):
    """Wait of an attempt while its desktop is created."""

    subject: str = ""
    phase: str
    doing: str
    limit: float | None = None
    note: str = ""
    since: datetime


def startup_of(state: str, desktop: Mapping[str, Any]) -> DesktopStartup | None:
    """None once the desktop exists, and if nothing was reported."""
    facts = desktop.get(OPENING)
    return DesktopStartup.model_validate(facts) if facts and state == AttemptState.PREPARING else None


class AttemptWait(ReadModel):
    """Current wait of an attempt."""

    kind: Literal["desktop", "model", "evaluator", "person", "program"]
    text: str = Field(examples=["waiting for the model API (lab, m-1)"])
    since: datetime | None
    words: str = Field(default="", description="The API's last error message.", examples=["HTTP 429: rate limit"])
    retry_at: datetime | None = Field(default=None, description="Time of the next request.")
    endpoint: str = Field(default="", description="Of the model, if that is waited for.")


def wait_of(
    attempt: Attempt, model_wait: Mapping[str, Any] | None, step_at: datetime | None = None, agent: str = ""
) -> AttemptWait | None:
    """The wait of a live attempt; None while its agent acts.

    Args:
        attempt: the attempt.
        model_wait: as its lease has it.
        step_at: when its last step was stored.
        agent: name of its agent.
    """
    if attempt.state == AttemptState.PREPARING:
        startup = startup_of(attempt.state, attempt.desktop)
        since = startup.since if startup else attempt.started_at
        return AttemptWait(kind="desktop", text=startup.doing if startup else "preparing the desktop", since=since)
    if model_wait:
        return model_wait_view(model_wait)
    if attempt.state == AttemptState.EVALUATING:
        return AttemptWait(kind="evaluator", text="evaluating", since=step_at)
    return _actor_wait(attempt, step_at, agent)


def _actor_wait(attempt: Attempt, step_at: datetime | None, agent: str) -> AttemptWait | None:
    """The wait for who acts, if that is not a worker's own agent."""
    if agent == HUMAN:
        return AttemptWait(kind="person", text="waiting for the person's next action", since=step_at)
    if attempt.controller == AttemptController.PERSON:
        return AttemptWait(kind="person", text="a person is in control", since=None)
    if agent in OUTSIDE:
        return AttemptWait(kind="program", text="waiting for the outside program's next action", since=step_at)
    return None


def model_wait_view(stored: Mapping[str, Any]) -> AttemptWait:
    """From the column of a lease."""
    retry_at = stored.get("retry_at")
    return AttemptWait(
        kind="model",
        text=f"waiting for the model API ({stored['endpoint']}, {stored['model']})",
        since=datetime.fromisoformat(stored["since"]),
        words=stored.get("words") or "",
        retry_at=datetime.fromisoformat(retry_at) if retry_at else None,
        endpoint=stored["endpoint"],
    )


class GroupedWait(ReadModel):
    """Running attempts of a run with the same wait reason, and the longest waiting one."""

    wait: AttemptWait
    attempts: int


def group_waits(waits: Sequence[AttemptWait | None]) -> list[GroupedWait]:
    """Waits for models and evaluators by what is waited for, most frequent first."""
    alike: dict[str, list[AttemptWait]] = {}
    for wait in waits:
        if wait is not None and wait.kind in {"model", "evaluator"}:
            alike.setdefault(wait.text, []).append(wait)
    groups = [GroupedWait(wait=min(waits, key=_age), attempts=len(waits)) for waits in alike.values()]
    return sorted(groups, key=lambda group: -group.attempts)


def _age(wait: AttemptWait) -> float:
    return wait.since.timestamp() if wait.since else float("inf")
