"""Videos of ended attempts: made once, on request, and kept as artifacts."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from threading import Lock
from typing import NamedTuple
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.addresses import API
from backend.db.repositories.export import videos as repository
from backend.domain.errors import Conflict, NotFound, Unavailable
from backend.domain.ports.storage import ArtifactStore
from backend.services.artifacts.artifacts import register
from backend.services.export.video_encoder import MOST_STEPS, VideoStep, encode
from backend.services.read_model import ReadModel
from backend.services.runs import episodes

_ONE_AT_A_TIME = Lock()


class VideoView(ReadModel):
    """The MP4 of an attempt: one second a step, with pointer marks and captions."""

    attempt_id: UUID
    url: str = Field(description="Of its bytes.", examples=[f"{API}/artifacts/{'0' * 64}"])
    size: int = Field(description="In bytes.", examples=[812_345])
    created_at: datetime


class VideoPlan(NamedTuple):
    """Steps and screens of a video."""

    attempt_id: UUID
    steps: Sequence[VideoStep]


def find(session: Session, attempt_id: UUID) -> VideoView | None:
    """The attempt's video, if it was made."""
    row = repository.find(session, attempt_id)
    if row is None:
        return None
    video, artifact = row
    url = f"{API}/artifacts/{artifact.sha256}"
    return VideoView(attempt_id=attempt_id, url=url, size=artifact.size, created_at=video.created_at)


def get(session: Session, attempt_id: UUID) -> VideoView:
    """The attempt's video. Raises NotFound if there is no such attempt, or none was made."""
    episodes.get_attempt(session, attempt_id)
    view = find(session, attempt_id)
    if view is None:
        raise NotFound("This attempt has no video yet.", code="video_not_found", hint="POST creates it.")
    return view


def plan(session: Session, attempt_id: UUID) -> VideoPlan:
    """The contents of the attempt's video.

    Raises:
        NotFound: there is no such attempt.
        Conflict: it still runs, or has too many steps.
    """
    attempt = episodes.get_attempt(session, attempt_id)
    if attempt.live:
        raise Conflict("The attempt is still running.", code="attempt_live", hint="Ask again when it has ended.")
    rows = episodes.steps(session, attempt_id, limit=MOST_STEPS + 1)
    if len(rows) > MOST_STEPS:
        raise Conflict(f"Videos have at most {MOST_STEPS:,} steps.", code="video_too_long")
    return VideoPlan(attempt_id, [VideoStep(row.index, row.actions, row.frame_sha256) for row in rows])


def make(planned: VideoPlan, store: ArtifactStore) -> tuple[str, int]:
    """Encodes and stores the video, outside of any transaction; returns hash and size.

    Raises:
        Conflict: no ffmpeg, no screens, or too large.
        Unavailable: another one is being made, or ffmpeg failed.
    """
    if not _ONE_AT_A_TIME.acquire(blocking=False):
        raise Unavailable("Another video is being created.", code="video_busy", hint="Try again in a minute.")
    try:
        data = encode(_with_screens(planned.steps, store))
    finally:
        _ONE_AT_A_TIME.release()
    return store.put(data, "video/mp4"), len(data)


def keep(session: Session, attempt_id: UUID, sha256: str, size: int) -> VideoView:
    """Stores that these bytes are the attempt's video, unless it has one."""
    register(session, sha256, size, "video/mp4")
    repository.add(session, attempt_id, sha256)
    return get(session, attempt_id)


def _with_screens(steps: Sequence[VideoStep], store: ArtifactStore) -> Iterator[tuple[VideoStep, bytes | None]]:
    for step in steps:
        try:
            yield step, store.get(step.frame) if step.frame else None
        except NotFound:
            yield step, None
