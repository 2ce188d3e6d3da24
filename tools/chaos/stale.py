"""Stale writes, replayed against the real services: what a worker might still send that was paused too long."""

from collections.abc import Callable, Iterator

from sqlalchemy.orm import Session

from backend.domain.errors import AttemptFailure, FailureClass, LeaseLost
from backend.domain.model.episode import EndedBy
from backend.services.attempts import attempts
from backend.services.scheduling.claims import Fence
from tests.factories.records import World, evaluation, step_row
from tests.fakes.store import MemoryStore
from tools.chaos.facts import AttemptFact, Facts
from tools.chaos.invariants import Violation

SENTENCE = "no write with a stale fencing token is accepted"
FAR = 10_000
"""Index of a step that no attempt reaches."""
Write = Callable[[Session, Fence], None]


class _RolledBack(Exception):  # noqa: N818 - an accepted write is undone.
    pass


def _step(session: Session, fence: Fence) -> None:
    attempts.record_step(session, fence, step_row(MemoryStore(), FAR))


def _score(session: Session, fence: Fence) -> None:
    attempts.finish_scored(session, fence, evaluation(0.5), [], {})


def _lose(session: Session, fence: Fence) -> None:
    attempts.finish_lost(session, fence, AttemptFailure(FailureClass.GUEST, "desktop_gone", "a stale write"), {})


def _evaluate(session: Session, fence: Fence) -> None:
    attempts.enter_evaluating(session, fence, EndedBy.DONE, {})


ANY: dict[str, Write] = {"a step": _step, "what its desktop is": lambda s, f: attempts.note_desktop(s, f, {"stale": 1})}
LOST: dict[str, Write] = {**ANY, "a score": _score, "the evaluation's begin": _evaluate}
"""Writes to a lost attempt. The process that recorded the loss may record it again."""
FOREIGN: dict[str, Write] = {**LOST, "a loss": _lose}
"""With a token that is not the lease's."""


def replayed(world: World, facts: Facts, known: set[object]) -> tuple[int, list[Violation]]:
    """Sends stale writes for every attempt that has ended since the last time, and for all that live.

    Args:
        world: the installation.
        facts: as they are.
        known: ended attempts that were tried before; those of now are added.

    Returns:
        How many writes were tried, and those that were accepted.
    """
    tried, accepted = 0, []
    for attempt, fence, writes in _stale_writes(facts, known):
        for name, write in writes.items():
            tried += 1
            if not is_refused(world, write, fence):
                message = f"{name} with token {fence.token} for attempt {attempt.id}, which is {attempt.state}"
                accepted.append(Violation("stale writes", SENTENCE, message))
        if not attempt.live:
            known.add(attempt.id)
    return tried, accepted


def _stale_writes(facts: Facts, known: set[object]) -> Iterator[tuple[AttemptFact, Fence, dict[str, Write]]]:
    for attempt in facts.attempts:
        if attempt.live:
            yield attempt, Fence(attempt.id, attempt.fencing_token - 1), FOREIGN
        elif attempt.id not in known:
            yield attempt, Fence(attempt.id, attempt.fencing_token), LOST if attempt.state == "lost" else ANY
            yield attempt, Fence(attempt.id, attempt.fencing_token + 1), FOREIGN


def is_refused(world: World, write: Write, fence: Fence) -> bool:
    """Whether it raised LeaseLost. Its writes are rolled back."""

    def trial(session: Session) -> None:
        write(session, fence)
        raise _RolledBack

    try:
        world.do(trial)
    except LeaseLost:
        return True
    except _RolledBack:
        return False
    raise AssertionError
