"""The live view from the worker's side: the newest frame of an attempt, and whether anybody looks."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from backend.services.events import broker

WATCH_SECONDS = 6.0
"""How long one mark of interest counts; a viewer renews it every 2 s."""

HURRY_SECONDS = 6.0
"""How long the wish for more pictures a second holds."""


@dataclass(frozen=True)
class LiveFrame:
    """The newest picture of an attempt.

    Attributes:
        seq: grows by at least 1 per frame of the attempt.
        data: JPEG bytes.
        meta: what the worker says of it (`captured_at`, `width`, `height`, `step`).
    """

    seq: int
    data: bytes
    meta: Mapping[str, Any]


def frame_key(attempt_id: UUID) -> str:
    """Where the newest frame lies."""
    return f"deskarena:frame:{attempt_id}"


def frame_channel(attempt_id: UUID) -> str:
    """Where new frames are told."""
    return f"deskarena:attempt:{attempt_id}"


def watch_key(attempt_id: UUID) -> str:
    """Where viewers leave their marks: a sorted set by the time that the mark ends."""
    return f"deskarena:watch:{attempt_id}"


def pack(seq: int, data: bytes, meta: Mapping[str, Any]) -> bytes:
    """One value for number, meta and picture, so that they can never be of two frames."""
    return json.dumps({"seq": seq, "meta": dict(meta)}).encode() + b"\n" + data


def unpack(value: bytes) -> LiveFrame:
    """The inverse of `pack`."""
    head, _, data = value.partition(b"\n")
    fields = json.loads(head)
    return LiveFrame(seq=int(fields["seq"]), data=data, meta=fields["meta"])


def put_frame(attempt_id: UUID, seq: int, jpeg: bytes, meta: Mapping[str, Any], ttl: float = 10.0) -> bool:
    """Makes this the attempt's newest frame for `ttl` seconds and tells viewers its number.

    Returns:
        False when the broker is away; the caller needs to do nothing about it.
    """

    def work(client: Any) -> bool:
        pipe = client.pipeline(transaction=False)
        pipe.set(frame_key(attempt_id), pack(seq, jpeg, meta), px=int(ttl * 1000))
        pipe.publish(frame_channel(attempt_id), json.dumps({"attempt": str(attempt_id), "seq": seq}))
        pipe.execute()
        return True

    return broker.current().call(work, default=False)


def watchers(attempt_id: UUID) -> int:
    """How many viewers look at the attempt now; 0 also while the broker is away."""

    def work(client: Any) -> int:
        return int(client.zcount(watch_key(attempt_id), time.time(), "+inf"))

    return broker.current().call(work, 0)


def hurry_key(attempt_id: UUID) -> str:
    """Where the wish for more pictures a second lies."""
    return f"deskarena:hurry:{attempt_id}"


def hurried(attempt_id: UUID) -> bool:
    """Whether a person acts on the picture, so that it should be quick."""
    return broker.current().call(lambda client: bool(client.exists(hurry_key(attempt_id))), default=False)
