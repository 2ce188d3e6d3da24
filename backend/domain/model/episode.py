"""Life cycle of episodes, attempts and runs: states, outcomes and legal moves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from backend.domain.errors import FailureClass, IllegalMove

_S = TypeVar("_S", bound=StrEnum)


class EndedBy(StrEnum):
    """Reason why the agent stopped. The end state is always evaluated."""

    DONE = "done"
    INFEASIBLE = "infeasible"
    STEPS = "steps"
    TIME = "time"
    TOKENS = "tokens"
    MONEY = "money"
    INVALID = "invalid"
    AGENT_ERROR = "agent_error"
    STALLED = "stalled"
    """No part was newly reached within the number of steps that the benchmark allows (OmniBench)."""
    SAFETY_CHECK = "safety_check"
    """The model's vendor asked for consent, and the run's policy is to stop."""


class Outcome(StrEnum):
    """Outcome of an ended episode. `handed_in`: people judge the work, so there is no score (not a 0)."""

    SCORED = "scored"
    HANDED_IN = "handed_in"
    LOST = "lost"
    CANCELLED = "cancelled"


class EpisodeState(StrEnum):
    """State of an episode. `not_runnable` is set at submission, with a reason, and is not an outcome."""

    WAITING = "waiting"
    RUNNING = "running"
    SCORED = "scored"
    HANDED_IN = "handed_in"
    LOST = "lost"
    CANCELLED = "cancelled"
    NOT_RUNNABLE = "not_runnable"

    @property
    def outcome(self) -> Outcome | None:
        """The outcome of an ended episode, None if it has not ended."""
        return Outcome(self.value) if self.value in set(Outcome) else None


class AttemptState(StrEnum):
    """State of an attempt: reset and set-up, the agent's loop, evaluation, or ended."""

    PREPARING = "preparing"
    RUNNING = "running"
    EVALUATING = "evaluating"
    SCORED = "scored"
    HANDED_IN = "handed_in"
    LOST = "lost"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        """True if nothing more may be written to the attempt."""
        return self.value in set(Outcome)


class RunState(StrEnum):
    """State of a run. An *open* run stays `running` until it is closed, even without episodes."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


ENDED_RUNS = frozenset({RunState.COMPLETED, RunState.CANCELLED})
_E, _A, _R = EpisodeState, AttemptState, RunState

EPISODE_MOVES: Mapping[EpisodeState, frozenset[EpisodeState]] = {
    # Straight to an end: repeating an evaluation on stored evidence needs no desktop.
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
    _A.LOST: frozenset({_A.SCORED, _A.HANDED_IN}),  # Its stored evidence was evaluated later.
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
        old: the current state.
        new: the next state.
    """
    if new not in moves[old]:
        noun = type(old).__name__.removesuffix("State").lower()
        words = f"the {noun} is {old} and cannot be {new}".replace("_", " ")
        allowed = ", ".join(sorted(moves[old])).replace("_", " ")
        raise IllegalMove(words, hint=f"From {old} it can go to {allowed}." if allowed else "It has ended.")


# Number of retries of an episode after losses of each class.
RETRIES: Mapping[FailureClass, int] = {
    FailureClass.MODEL_API: 5,
    FailureClass.TASK_SETUP: 1,
    FailureClass.GUEST: 2,
    FailureClass.CLUSTER: 5,
    FailureClass.EVALUATOR: 2,  # Only the evaluation is repeated, within the same attempt; then as below.
}
UNBEGUN_RETRIES = 10
"""Maximum retries after `cluster` losses before the agent saw anything. They are counted separately: they cost nothing,
and a cluster that starts nothing for some minutes must not use up an episode's retries.
"""


UNEXPLAINED_RETRIES = 1
"""Retries after `guest` losses that nothing explains although the agent had acted: each is a second chance for it."""
REPEAT_PAUSES = (5.0, 30.0, 180.0)
"""Seconds before each repeat of an evaluation on stored evidence; after the last, the attempt is given up."""


def repeat_pause(tries: int) -> float | None:
    """Seconds until an evaluation is repeated after `tries` repeats; None = it is given up."""
    return REPEAT_PAUSES[tries] if tries < len(REPEAT_PAUSES) else None


@dataclass(frozen=True)
class Loss:
    """A lost attempt, as seen by the retry policy.

    Attributes:
        after_start: its agent had seen a desktop.
        unexplained: its agent had acted, and nothing explains the loss (`backend.domain.machines.desktop_end`).
    """

    failure: FailureClass
    after_start: bool = True
    unexplained: bool = False

    @property
    def counted_as(self) -> tuple[FailureClass, bool, bool]:
        """The losses that share a retry count."""
        return self.failure, self.after_start or self.failure is not FailureClass.CLUSTER, self.unexplained

    @property
    def retries(self) -> int:
        """How often an episode is retried after losses that are counted like this one."""
        failure, after_start, unexplained = self.counted_as
        if unexplained:
            return min(UNEXPLAINED_RETRIES, RETRIES[failure])
        return RETRIES[failure] if after_start else UNBEGUN_RETRIES


def next_try(losses: Sequence[Loss]) -> float | None:
    """Seconds until the next attempt of an episode with these losses, the last one just now; None = no more attempts.

    The first retry after an infrastructure loss is immediate; further ones follow after 1, 2, 4 s and so on, at most
    one minute. After a loss of the model's API the delays are 5, 10, 20 s and so on, at most five minutes.

    After an `evaluator` loss a new attempt would measure the agent twice, so only the evaluation is repeated on the
    stored evidence (`repeat_pause`). Without evidence the episode stays lost until a person retries it.
    """
    last = losses[-1]
    failure, times = last.failure, sum(loss.counted_as == last.counted_as for loss in losses)
    if failure is FailureClass.EVALUATOR or times > last.retries:
        return None
    if failure is FailureClass.MODEL_API:
        return min(300.0, 5.0 * 2.0 ** (times - 1))
    return min(60.0, 2.0 ** (times - 2)) if failure is FailureClass.CLUSTER and times > 1 else 0.0
