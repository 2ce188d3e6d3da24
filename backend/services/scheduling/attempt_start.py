"""Starts attempts: one for each selected episode, written in one batch."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models.enums import AttemptController
from backend.db.repositories.attempts import attempts
from backend.db.repositories.events.events import NewEvent
from backend.db.repositories.scheduling import scheduler
from backend.domain.machines.image_offers import ImageOffer
from backend.domain.model.episode import AttemptState, EpisodeState, RunState
from backend.services import events
from backend.services.events import EventKind
from backend.services.scheduling.claim_types import Claim, Claims, LeasedSlot, StartingEpisode


def begin(
    session: Session, starting: Sequence[StartingEpisode], places: Sequence[LeasedSlot], images: Sequence[ImageOffer]
) -> list[Claim]:
    """Creates an attempt for each episode that the scheduler has moved to `running`.

    Args:
        session: the transaction, which holds the runs.
        starting: the selected episodes.
        places: their slots and leases.
        images: images of the worker's desktops.
    """
    claims = Claims(session, images)
    starts = [
        (item, claims.make(item, uuid7(), leased_slot), leased_slot)
        for item, leased_slot in zip(starting, places, strict=True)
    ]
    scheduler.count_starts(session, Counter(item.episode.run_id for item in starting))
    attempts.add_all(session, [_attempt(*start) for start in starts])
    _tell(session, starts)
    return [claim for _, claim, _ in starts]


def _attempt(starting: StartingEpisode, claim: Claim, leased_slot: LeasedSlot) -> dict[str, Any]:
    episode = starting.episode
    return {
        "id": claim.attempt_id,
        "episode_id": episode.id,
        "number": episode.number,
        "worker_id": leased_slot.worker_id,
        "slot_id": leased_slot.slot_id,
        "lease_id": leased_slot.lease_id,
        "fencing_token": leased_slot.slot.fence,
        "controller": (AttemptController.PERSON if starting.run.human else AttemptController.AGENT).value,
        "human_feedback": dict(episode.human_feedback) if episode.human_feedback else None,
        "desktop": {"image": claim.image},
        "trace_parent": claim.trace_parent or None,
    }


def _tell(session: Session, starts: Sequence[tuple[StartingEpisode, Claim, LeasedSlot]]) -> None:
    by_run: dict[UUID, list[NewEvent]] = defaultdict(list)
    for starting, claim, leased_slot in starts:
        episode = starting.episode
        run = by_run[episode.run_id]
        if not run and starting.run.queued:
            run.append(NewEvent(EventKind.RUN_STATE, _move(RunState.QUEUED, RunState.RUNNING)))
        run.append(NewEvent(EventKind.EPISODE_STATE, _move(EpisodeState.WAITING, EpisodeState.RUNNING), episode.id))
        started = {
            "number": episode.number,
            "state": AttemptState.PREPARING.value,
            "worker": str(leased_slot.worker_id),
        }
        run.append(NewEvent(EventKind.ATTEMPT_STARTED, started, episode.id, claim.attempt_id))
    events.append_all(session, by_run)


def _move(old: str, new: str) -> dict[str, Any]:
    return {"from": str(old), "to": str(new)}
