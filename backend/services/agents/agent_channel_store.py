"""Data of the agent channel in the broker; used by both ends.

Three expiring keys per attempt: the newest observation (a hash, so that its picture is read only on demand), a stream
of messages to the worker, and the idempotency keys of messages. A fourth records when the agent was last heard from.
Every observation is announced on a pub/sub channel.
"""

import hashlib
import json
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any
from uuid import UUID

from backend.services.events import broker, log, watch
from backend.services.lru_cache import LruCache

SEEN_SECONDS = 60.0
"""Seconds for which an observation is kept without renewal."""
SAID_SECONDS = 3600.0
HEARD_SECONDS = 30.0
API_SECONDS = 10.0
"""Seconds after its last sign of life for which an API counts as available."""
_API_KEY = "deskarena:api"
_heard_at: LruCache[UUID, float] = LruCache(1000)
"""When this process last renewed an attempt's sign of life."""
MOST_BYTES = 2**20
"""Maximum bytes of a message."""
MOST_WAITING = 64
"""Maximum number of messages that the worker has not taken yet."""


class ReplyStatus(IntEnum):
    """Result of sending a message."""

    NEW = 0
    REPEATED = 1
    OTHER = 2  # another message was given under the same key
    FULL = 3
    AWAY = 4  # the broker is


@dataclass(frozen=True)
class StoredObservation:
    """An observation as stored in the broker.

    Attributes:
        index: its step.
        head: metadata without picture and tree (see `backend.services.agents.agent_channel`).
        tree: accessibility tree; empty if not requested or not available.
        picture: likewise.
    """

    index: int
    head: Mapping[str, Any]
    tree: str = ""
    picture: bytes = field(default=b"", repr=False)


_SAY = """
local known = redis.call('HGET', KEYS[2], ARGV[1])
if known then
  if known == ARGV[2] then return 1 end
  return 2
end
if redis.call('XLEN', KEYS[1]) >= tonumber(ARGV[4]) then return 3 end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('XADD', KEYS[1], '*', 'message', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('PEXPIRE', KEYS[2], ARGV[5])
return 0
"""

_KEEP = """
if redis.call('HGET', KEYS[1], 'index') ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
"""


def _key(attempt_id: UUID, part: str) -> str:
    return f"deskarena:line:{attempt_id}:{part}"


def line_channel(attempt_id: UUID) -> str:
    """Pub/sub channel of new observations."""
    return _key(attempt_id, "new")


def has_broker() -> bool:
    """Whether a broker is configured; it may be unavailable. Does not connect."""
    return bool(broker.current().url)


def put_observation(  # noqa: PLR0913 - the parts of one record
    attempt_id: UUID, index: int, head: Mapping[str, Any], picture: bytes, tree: str, *, again: bool = False
) -> bool:
    """Stores the newest observation and notifies waiters. False while the broker is unavailable.

    Args:
        attempt_id: attempt of the observation.
        index: its step.
        head: see `StoredObservation`.
        picture: of the screen.
        tree: accessibility tree.
        again: it was stored before and lost; its answer may be lost as well.
    """
    fields: dict[str, Any] = {"index": index, "head": json.dumps(dict(head)), "picture": picture, "tree": tree}
    if again:
        fields["again"] = 1

    def work(client: Any) -> bool:
        key = _key(attempt_id, "seen")
        pipe = client.pipeline(transaction=True)
        pipe.delete(key)
        pipe.hset(key, mapping=fields)
        pipe.pexpire(key, int(SEEN_SECONDS * 1000))
        pipe.publish(line_channel(attempt_id), json.dumps({"index": index}))
        pipe.execute()
        return True

    return broker.current().call(work, default=False)


def renew_observation(attempt_id: UUID, index: int) -> bool:
    """Renews the observation of step `index`. False if it is lost, an older one is back, or the broker is unavailable.

    A broker with persistence may restart with an older state.
    """
    args = [str(index), int(SEEN_SECONDS * 1000)]
    return broker.current().call(
        lambda client: bool(client.eval(_KEEP, 1, _key(attempt_id, "seen"), *args)), default=False
    )


def forget_observation(attempt_id: UUID) -> None:
    """Removes the observation: the attempt's desktop has ended. Idempotency keys stay: answers may be repeated."""
    keys = [_key(attempt_id, part) for part in ("seen", "said")]
    broker.current().call(lambda client: client.delete(*keys), None)


def next_messages(attempt_id: UUID, after: str, seconds: float) -> Sequence[tuple[str, bytes]] | None:
    """Messages after the one with the id `after` (`0` = from the first); older ones are deleted.

    Args:
        attempt_id: attempt of the channel.
        after: id of the last message taken.
        seconds: maximum wait; below the broker's read timeout.

    Returns:
        (id, body) each, oldest first; None while the broker is unavailable.
    """
    key = _key(attempt_id, "said")

    def work(client: Any) -> Sequence[tuple[str, bytes]]:
        if after != "0":
            client.xtrim(key, minid=_next_id(after), approximate=False)
        streams = client.xread({key: after}, count=MOST_WAITING, block=max(1, int(seconds * 1000)))
        rows = streams[0][1] if streams else []
        return [(number.decode(), fields[b"message"]) for number, fields in rows]

    return broker.current().call(work, default=None)


def _next_id(number: str) -> str:
    stamp, _, count = number.partition("-")
    return f"{stamp}-{int(count) + 1}"


def has_contact(attempt_id: UUID) -> bool:
    """Whether the agent was heard from within `HEARD_SECONDS`; False while the broker is unavailable."""
    return broker.current().call(lambda client: bool(client.exists(_key(attempt_id, "heard"))), default=False)


def forget_contact(attempt_id: UUID) -> None:
    """Resets when the agent was last heard from."""
    broker.current().call(lambda client: client.delete(_key(attempt_id, "heard")), None)


def is_api_alive() -> bool:
    """Whether an API gave a sign of life within `API_SECONDS`; False while the broker is unavailable."""
    return broker.current().call(lambda client: bool(client.exists(_API_KEY)), default=False)


async def mark_api() -> None:
    """Records a sign of life of an API; does nothing while the broker is unavailable."""
    client = watch.broker_client()
    if client is not None:
        with suppress(*broker.FAILURES):
            await client.set(_API_KEY, b"1", px=int(API_SECONDS * 1000))


async def mark_heard(attempt_id: UUID) -> None:
    """Records a sign of life of the agent; uses the broker only every few seconds."""
    client, now = watch.broker_client(), time.monotonic()
    if client is not None and now - (_heard_at.get(attempt_id) or -HEARD_SECONDS) > HEARD_SECONDS / 6:
        try:
            await client.set(_key(attempt_id, "heard"), b"1", px=int(HEARD_SECONDS * 1000))
        except broker.FAILURES:
            return
        _heard_at.put(attempt_id, now)


async def say(attempt_id: UUID, once: str, message: Mapping[str, Any], *, fresh: bool = True) -> ReplyStatus:
    """Sends a message to the worker, unless one was sent with the idempotency key `once` before.

    Args:
        attempt_id: attempt of the channel.
        once: idempotency key.
        message: at most `MOST_BYTES` as JSON; checked by the caller.
        fresh: False = only check whether it was sent before; FULL means it was not.
    """
    client = watch.broker_client()
    if client is None:
        return ReplyStatus.AWAY
    body = json.dumps(dict(message), sort_keys=True).encode()
    args = [once, hashlib.sha256(body).hexdigest(), body, MOST_WAITING if fresh else 0, int(SAID_SECONDS * 1000)]
    try:
        return ReplyStatus(await client.eval(_SAY, 2, _key(attempt_id, "said"), _key(attempt_id, "once"), *args))
    except broker.FAILURES:
        return ReplyStatus.AWAY


async def latest_seen(attempt_id: UUID, *, tree: bool = False, picture: bool = False) -> StoredObservation | None:
    """The newest observation; None if there is none or the broker is unavailable."""
    more = [name for name, requested in (("tree", tree), ("picture", picture)) if requested]
    values = await _fields(attempt_id, "index", "head", *more)
    if values is None or values[0] is None:
        return None
    parts = dict(zip(more, values[2:], strict=True))
    return StoredObservation(
        int(values[0]), json.loads(values[1]), parts.get("tree", b"").decode(), parts.get("picture", b"")
    )


async def latest_index(attempt_id: UUID) -> int | None:
    """Step of the newest observation."""
    values = await _fields(attempt_id, "index")
    return None if values is None or values[0] is None else int(values[0])


async def is_forgotten(attempt_id: UUID, index: int) -> bool:
    """Whether the newest observation is that of step `index`, offered again without a known answer.

    This happens after a broker lost its data: the agent has to answer again.
    """
    values = await _fields(attempt_id, "index", "again")
    if values is None or values != [str(index).encode(), b"1"]:
        return False
    client = watch.broker_client()
    try:
        return not await client.hexists(_key(attempt_id, "once"), str(index))
    except broker.FAILURES:
        return False


async def _fields(attempt_id: UUID, *names: str) -> list[Any] | None:
    client = watch.broker_client()
    if client is None:
        return None
    try:
        values: list[Any] = await client.hmget(_key(attempt_id, "seen"), list(names))
    except broker.FAILURES:
        return None
    return values


async def subscribe_line(attempt_id: UUID, run_id: UUID) -> AsyncGenerator[bool, None]:
    """Yields when to check again: True if the run may have a new event, too (the episode may have ended).

    Yields at once, and at least every 2 s (True).
    """
    channels = line_channel(attempt_id), log.run_channel(run_id)
    async with aclosing(watch.channel_messages(*channels)) as messages:
        async for message in messages:
            yield message is None or "seq" in message
