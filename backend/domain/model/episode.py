"""How episodes and attempts live and end: states, outcomes and the moves that are legal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from backend.domain.errors import FailureClass, IllegalMove

_S = TypeVar("_S", bound=StrEnum)


class EndedBy(StrEnum):
    """What stopped the agent. Every value is followed by an evaluation of the state it left."""

    DONE = "done"
    INFEASIBLE = "infeasible"
    STEPS = "steps"
    TIME = "time"
    TOKENS = "tokens"
    MONEY = "money"
    INVALID = "invalid"
    AGENT_ERROR = "agent_error"
    STALLED = "stalled"
    """No part of the task was newly reached within the number of steps that the benchmark allows (OmniBench)."""


class Outcome(StrEnum):
    """What an ended episode counts as. `handed_in`: people judge the work, so there is no score, and it is no 0."""

    SCORED = "scored"
    HANDED_IN = "handed_in"
    LOST = "lost"
    CANCELLED = "cancelled"


class EpisodeState(StrEnum):
    """Where an episode is. `not_runnable` is set at submission, with a reason, and is no outcome."""

    WAITING = "waiting"
    RUNNING = "running"
    SCORED = "scored"
    HANDED_IN = "handed_in"
    LOST = "lost"
    CANCELLED = "cancelled"
    NOT_RUNNABLE = "not_runnable"

    @property
    def outcome(self) -> Outcome | None:
        """The outcome of an ended episode, None for one that is not ended."""
        return Outcome(self.value) if self.value in set(Outcome) else None


class AttemptState(StrEnum):
    """Where an attempt is: reset and set-up, the agent's loop, evaluation, or ended."""

    PREPARING = "preparing"
    RUNNING = "running"
    EVALUATING = "evaluating"
    SCORED = "scored"
    HANDED_IN = "handed_in"
    LOST = "lost"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        """True once nothing more may be written to the attempt."""
        return self.value in set(Outcome)


class RunState(StrEnum):
    """Where a run is. An *open* run stays `running` until it is closed, even with no episode left."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


_E, _A, _R = EpisodeState, AttemptState, RunState

EPISODE_MOVES: Mapping[EpisodeState, frozenset[EpisodeState]] = {
    # To an end at once: an evaluation that is repeated on kept evidence needs no desktop.
    _E.WAITING: frozenset({_E.RUNNING, _E.SCORED, _E.HANDED_IN, _E.LOST, _E.CANCELLED, _E.NOT_RUNNABLE}),
    _E.RUNNING: frozenset({_E.WAITING, _E.SCORED, _E.HANDED_IN, _E.LOST, _E.CANCELLED}),
    _E.SCORED: frozenset(),
    _E.HANDED_IN: frozenset(),
    _E.LOST: frozenset({_E.WAITING}),  # `run retry`
    _E.CANCELLED: frozenset(),
    _E.NOT_RUNNABLE: frozenset({_E.WAITING}),  # the missing application was installed, `run retry`
}
ATTEMPT_MOVES: Mapping[AttemptState, frozenset[AttemptState]] = {
    _A.PREPARING: frozenset({_A.RUNNING, _A.LOST, _A.CANCELLED}),
    _A.RUNNING: frozenset({_A.EVALUATING, _A.LOST, _A.CANCELLED}),
    _A.EVALUATING: frozenset({_A.SCORED, _A.HANDED_IN, _A.LOST, _A.CANCELLED}),
    _A.SCORED: frozenset(),
    _A.HANDED_IN: frozenset(),
    _A.LOST: frozenset({_A.SCORED, _A.HANDED_IN}),  # Its kept evidence was judged after all.
    _A.CANCELLED: frozenset(),
}
RUN_MOVES: Mapping[RunState, frozenset[RunState]] = {
    _R.QUEUED: frozenset({_R.RUNNING, _R.PAUSED, _R.CANCELLED, _R.COMPLETED}),
    _R.RUNNING: frozenset({_R.PAUSED, _R.COMPLETED, _R.CANCELLED}),
    _R.PAUSED: frozenset({_R.QUEUED, _R.RUNNING, _R.CANCELLED, _R.COMPLETED}),
    _R.COMPLETED: frozenset({_R.RUNNING}),  # `run retry`, or an episode added to a reopened run
    _R.CANCELLED: frozenset(),
}


def check_move(moves: Mapping[_S, frozenset[_S]], old: _S, new: _S) -> None:
    """Raises IllegalMove unless `old -> new` is in the table.

    Args:
        moves: one of EPISODE_MOVES, ATTEMPT_MOVES, RUN_MOVES.
        old: the state it is in.
        new: the state it should go to.
    """
    if new not in moves[old]:
        what = type(old).__name__.removesuffix("State").lower()
        words = f"the {what} is {old} and cannot be {new}".replace("_", " ")
        allowed = ", ".join(sorted(moves[old])).replace("_", " ")
        raise IllegalMove(words, hint=f"From {old} it can go to {allowed}." if allowed else "It has ended.")


# How often an episode may be tried again after a loss of each class, beyond its first attempt.
RETRIES: Mapping[FailureClass, int] = {
    FailureClass.MODEL_API: 5,
    FailureClass.TASK_SETUP: 1,
    FailureClass.GUEST: 2,
    FailureClass.CLUSTER: 5,
    FailureClass.EVALUATOR: 2,  # Only the evaluation is repeated, inside the same attempt; then as below.
}
UNBEGUN_RETRIES = 10
"""The same for attempts lost to the `cluster` before their agent saw anything. They are counted apart: nothing was
spent on them, and a cluster that starts nothing for some minutes must not cost an episode."""


REPEAT_PAUSES = (5.0, 30.0, 180.0)
"""Seconds before each repeat of an evaluation whose evidence is kept; after the last the attempt is given up."""


def repeat_pause(tries: int) -> float | None:
    """Seconds until an evaluation is repeated that has been repeated `tries` times; None = it is given up."""
    return REPEAT_PAUSES[tries] if tries < len(REPEAT_PAUSES) else None


@dataclass(frozen=True)
class Loss:
    """A lost attempt, as the policy sees it. `begun`: its agent had seen a desktop."""

    failure: FailureClass
    after_start: bool = True

    @property
    def counted_as(self) -> tuple[FailureClass, bool]:
        """Losses that use up the same tries."""
        return self.failure, self.after_start or self.failure is not FailureClass.CLUSTER


def next_try(losses: Sequence[Loss]) -> float | None:
    """Seconds until an episode with these losses, the last one just now, gets another attempt; None = it gets none.

    After a first loss of a machine there is no pause: the episode is taken up at once. What has taken several in a row
    may go on for a while, so the next ones are asked for after 1, 2, 4 s and so on, a minute at most; a model's API
    after 5, 10, 20 s, five minutes at most.

    After an `evaluator` loss the desktop is gone, and a new attempt would measure the agent twice: only the evaluation
    is repeated, on the evidence that was kept (`repeat_pause`). Without evidence it stays lost until a person retries.
    """
    failure, after_start = kind = losses[-1].counted_as
    times = sum(each.counted_as == kind for each in losses)
    if failure is FailureClass.EVALUATOR or times > (RETRIES[failure] if after_start else UNBEGUN_RETRIES):
        return None
    if failure is FailureClass.MODEL_API:
        return min(300.0, 5.0 * 2.0 ** (times - 1))
    return min(60.0, 2.0 ** (times - 2)) if failure is FailureClass.CLUSTER and times > 1 else 0.0
