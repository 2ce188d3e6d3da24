"""Live view from the worker's side: newest frame of an attempt, and how large somebody watches it."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from backend.services.events import broker

WATCH_SECONDS = 6.0
"""Seconds for which a viewer's mark counts; viewers renew it every 2 s."""

FULL_WIDTH = 16_384
"""Width in pixels that stands for the whole picture of any desktop."""

HURRY_SECONDS = 6.0
"""Seconds for which a request for a higher frame rate counts."""


@dataclass(frozen=True)
class LiveFrame:
    """Newest picture of an attempt.

    Attributes:
        seq: increases by at least 1 per frame.
        data: JPEG bytes.
        meta: metadata by the worker: `captured_at` (by the desktop's clock), `width`, `height`, `step`; of a running
            desktop also `picture` (counts different ones), `changed_at` and `answered_at` (by the worker's clock).
    """

    seq: int
    data: bytes
    meta: Mapping[str, Any]


def frame_key(attempt_id: UUID) -> str:
    """Key of the newest frame."""
    return f"deskarena:frame:{attempt_id}"


def frame_channel(attempt_id: UUID) -> str:
    """Pub/sub channel of new frames."""
    return f"deskarena:attempt:{attempt_id}"


def watch_key(attempt_id: UUID) -> str:
    """Key of viewers' marks (`watch_mark`): a sorted set by expiry."""
    return f"deskarena:watch:{attempt_id}"


def watch_mark(viewer: str, width: int) -> str:
    """Mark of a viewer whose picture is `width` pixels wide."""
    return f"{width}:{viewer}"


def pack(seq: int, data: bytes, meta: Mapping[str, Any]) -> bytes:
    """One value with number, metadata and picture, so that they always belong together."""
    return json.dumps({"seq": seq, "meta": dict(meta)}).encode() + b"\n" + data


def unpack(value: bytes) -> LiveFrame:
    """The inverse of `pack`."""
    head, _, data = value.partition(b"\n")
    fields = json.loads(head)
    return LiveFrame(seq=int(fields["seq"]), data=data, meta=fields["meta"])


def put_frame(attempt_id: UUID, seq: int, jpeg: bytes, meta: Mapping[str, Any], ttl: float = 10.0) -> bool:
    """Stores the attempt's newest frame for `ttl` seconds and notifies viewers.

    Returns:
        False while the broker is unavailable, which the caller can ignore.
    """

    def work(client: Any) -> bool:
        pipe = client.pipeline(transaction=False)
        pipe.set(frame_key(attempt_id), pack(seq, jpeg, meta), px=int(ttl * 1000))
        pipe.publish(frame_channel(attempt_id), json.dumps({"attempt": str(attempt_id), "seq": seq}))
        pipe.execute()
        return True

    return broker.current().call(work, default=False)


def watched_width(attempt_id: UUID) -> int:
    """Width in pixels of the widest picture in which somebody watches the attempt.

    0 if nobody does, and while the broker is unavailable.
    """

    def work(client: Any) -> int:
        marks = client.zrangebyscore(watch_key(attempt_id), time.time(), "+inf")
        return max((int(mark.partition(b":")[0]) for mark in marks), default=0)

    return broker.current().call(work, 0)


def hurry_key(attempt_id: UUID) -> str:
    """Key of the request for a higher frame rate."""
    return f"deskarena:hurry:{attempt_id}"


def hurried(attempt_id: UUID) -> bool:
    """Whether a person acts on the picture, so that it should be quick."""
    return broker.current().call(lambda client: bool(client.exists(hurry_key(attempt_id))), default=False)
