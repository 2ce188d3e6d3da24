"""Attempts begin: one for each episode that was taken, written for all of them at once."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models.words import Controller
from backend.db.repositories import attempts, scheduling
from backend.db.repositories.events import NewEvent
from backend.db.repositories.scheduling import Begun
from backend.domain.episode import AttemptState, EpisodeState, RunState
from backend.domain.image_offers import ImageOffer
from backend.services import events
from backend.services.claimed import Claim, Claims, Place, RunFacts
from backend.services.events import Kind


def begin(
    session: Session,
    begun: Sequence[Begun],
    places: Sequence[Place],
    runs: Mapping[UUID, RunFacts],
    images: Sequence[ImageOffer],
) -> list[Claim]:
    """An attempt for each episode that `turns.take` has moved to `running`.

    Args:
        session: the transaction; it holds the runs.
        begun: the episodes.
        places: where each takes place.
        runs: theirs, as `turns.take` gives them.
        images: of the worker's desktops.
    """
    made = [(each, uuid7(), place) for each, place in zip(begun, places, strict=True)]
    claims = Claims(session, runs, images).make(made)
    scheduling.begun(session, Counter(each.run_id for each in begun))
    attempts.add_all(
        session,
        [
            _attempt(each, claim, place, human=runs[each.run_id].human)
            for (each, _, place), claim in zip(made, claims, strict=True)
        ],
    )
    _tell(session, made, runs)
    return claims


def _attempt(begun: Begun, claim: Claim, place: Place, *, human: bool) -> dict[str, Any]:
    return {
        "id": claim.attempt_id,
        "episode_id": begun.id,
        "number": begun.number,
        "worker_id": place.worker_id,
        "slot_id": place.slot_id,
        "lease_id": place.lease_id,
        "fencing_token": place.slot.fence,
        "controller": (Controller.PERSON if human else Controller.AGENT).value,
        "person": dict(begun.person) if begun.person else None,
        "desktop": {"image": claim.image},
    }


def _tell(session: Session, made: Sequence[tuple[Begun, UUID, Place]], runs: Mapping[UUID, RunFacts]) -> None:
    told: dict[UUID, list[NewEvent]] = defaultdict(list)
    for begun, attempt_id, place in made:
        run = told[begun.run_id]
        if not run and runs[begun.run_id].queued:
            run.append(NewEvent(Kind.RUN_STATE, _move(RunState.QUEUED, RunState.RUNNING)))
        run.append(NewEvent(Kind.EPISODE_STATE, _move(EpisodeState.WAITING, EpisodeState.RUNNING), begun.id))
        started = {"number": begun.number, "state": AttemptState.PREPARING.value, "worker": str(place.worker_id)}
        run.append(NewEvent(Kind.ATTEMPT_STARTED, started, begun.id, attempt_id))
    events.append_all(session, told)


def _move(old: str, new: str) -> dict[str, Any]:
    return {"from": str(old), "to": str(new)}
