"""Time until a lost worker's episodes were taken up by another, from rows; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from tools.chaos.facts import AttemptFact, Facts
from tools.chaos.outside import AGENT

LIMIT = 15.0
"""Seconds, at the default heartbeat and lease."""


@dataclass(frozen=True)
class Uptake:
    """An episode whose worker was removed.

    Attributes:
        seconds: from then until its next attempt began; None if it has none.
        other: another worker took it up.
        free: whether a slot of a remaining worker was free when the loss could be known.
        alone: nothing else was broken.
    """

    episode_id: UUID
    seconds: float | None
    other: bool
    free: bool
    alone: bool

    @property
    def counts(self) -> bool:
        """Whether the limit is meant for it."""
        return self.free and self.alone and self.seconds is not None


def uptakes(facts: Facts, blows: Sequence[tuple[UUID, float, bool]]) -> list[Uptake]:
    """Every episode running on a worker when it was removed, which lost its attempt by that.

    Not those of a program from outside: they wait for it, however long it takes to ask again.

    Args:
        facts: at the end.
        blows: worker, moment (seconds since 1970), and whether nothing else was broken.
    """
    attempts, rows = facts.attempts_of(), []
    own = {episode.id for episode in facts.episodes if episode.agent != AGENT}
    for worker, at, alone in blows:
        moment = datetime.fromtimestamp(at, UTC)
        for attempt in facts.attempts:
            if attempt.episode_id not in own or attempt.state != "lost":
                continue
            if attempt.worker_id == worker and _was_live(attempt, moment):
                following = [
                    candidate for candidate in attempts[attempt.episode_id] if candidate.number == attempt.number + 1
                ]
                rows.append(_uptake(facts, attempt, following, moment, alone=alone))
    return rows


def _was_live(attempt: AttemptFact, moment: datetime) -> bool:
    return attempt.started_at < moment and (attempt.ended_at is None or attempt.ended_at >= moment)


def _uptake(
    facts: Facts, lost: AttemptFact, following: Sequence[AttemptFact], moment: datetime, *, alone: bool
) -> Uptake:
    began = following[0].started_at if following else None
    limit = moment + timedelta(seconds=LIMIT)
    return Uptake(
        episode_id=lost.episode_id,
        seconds=(began - moment).total_seconds() if began is not None else None,
        other=bool(following) and following[0].worker_id != lost.worker_id,
        free=_was_slot_free(facts, lost, limit if began is None else min(began, limit)),
        alone=alone,
    )


def _was_slot_free(facts: Facts, lost: AttemptFact, until: datetime) -> bool:
    """Whether a slot on another node was free from the loss until the uptake or the limit.

    A slot that is free only briefly may go to another episode, which does not delay this one. A lease alone takes no
    slot: one that carries nothing must not keep a lost episode waiting.
    """
    own = facts.workers[lost.worker_id]
    begin = lost.ended_at or until
    for node, number in facts.slots.items():
        slot_ids = {
            attempt.slot_id
            for attempt in facts.attempts
            if facts.workers[attempt.worker_id] == node
            and attempt.episode_id != lost.episode_id
            and attempt.started_at <= until
            and (attempt.ended_at or until) >= begin
        }
        if node != own and len(slot_ids) < number:
            return True
    return False
