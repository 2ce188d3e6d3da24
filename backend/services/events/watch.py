"""Waiting side: subscriptions of websockets and event streams. Holds no database session."""

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import AsyncGenerator
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

import redis
import redis.asyncio
from redis.asyncio.connection import AbstractConnection

from backend.services.events import broker, live, log

logger = logging.getLogger(__name__)

TICK = 2.0
"""Interval at which a subscription yields anyway, so that its listener can check Postgres."""
_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Any]] = WeakKeyDictionary()


def broker_client() -> Any:
    """One connection pool per event loop and address; None without a broker."""
    url = broker.current().url
    if not url:
        return None
    clients = _clients.setdefault(asyncio.get_running_loop(), {})
    if url not in clients:
        pool = redis.asyncio.ConnectionPool.from_url(
            url, socket_connect_timeout=broker.TIMEOUT, socket_timeout=broker.TIMEOUT * 4
        )
        pool.connection_class = _cancellable(pool.connection_class)
        clients[url] = redis.asyncio.Redis.from_pool(pool)
    return clients[url]


def _cancellable(connection_class: type[AbstractConnection]) -> type[AbstractConnection]:
    """A connection whose sending can be cancelled.

    The library sends through `asyncio.wait_for`, which loses a cancellation that comes when the bytes have just been
    sent (Python before 3.12, https://github.com/python/cpython/issues/86296): a loop around it would never end.
    """

    class CancellableConnection(connection_class):  # type: ignore[valid-type, misc]
        async def send_packed_command(self, command: Any, check_health: bool = True) -> None:  # noqa: FBT001, FBT002
            task = asyncio.current_task()
            before = task.cancelling() if task else 0
            await super().send_packed_command(command, check_health)
            if task and task.cancelling() > before:
                await self.disconnect(nowait=True)  # Nobody will read the reply.
                raise asyncio.CancelledError

    return CancellableConnection


async def close_listeners() -> None:
    """Closes this event loop's connections, for a graceful stop."""
    for client in _clients.pop(asyncio.get_running_loop(), {}).values():
        await client.aclose()


async def channel_messages(*channels: str) -> AsyncGenerator[dict[str, Any] | None, None]:
    """Messages of these channels; None every `TICK` seconds without one, and at once when listening (again) starts.

    While the broker is unavailable it yields None every `TICK` seconds and keeps trying: it ends only when closed.
    """
    while True:
        client = broker_client()
        if client is None:
            yield None
            await asyncio.sleep(TICK)
            continue
        try:
            async with client.pubsub() as pubsub:
                await pubsub.subscribe(*channels)
                # After the server's confirmation no message is missed, so what the listener then reads is complete.
                for _ in channels:
                    await pubsub.get_message(timeout=TICK)
                yield None
                while True:
                    message = await pubsub.get_message(ignore_subscribe_messages=True, timeout=TICK)
                    yield None if message is None else json.loads(message["data"])
        except (redis.RedisError, OSError) as error:
            logger.info("listening to %s: %s", ", ".join(channels), error)
            yield None
            await asyncio.sleep(TICK)


async def subscribe_run(run_id: UUID, after_seq: int) -> AsyncGenerator[int, None]:
    """Yields when to read the run's events from Postgres again.

    Args:
        run_id: which run.
        after_seq: number of the listener's last event.

    Yields:
        The newest known number: at once, after each new event, and at least every 2 s (perhaps unchanged), so that
        nothing is missed while the broker is unavailable. The listener reads `list_after(its own last number)`.
    """
    newest = after_seq
    async with contextlib.aclosing(channel_messages(log.run_channel(run_id))) as messages:
        async for message in messages:
            if message is None or int(message["seq"]) > newest:
                newest = newest if message is None else int(message["seq"])
                yield newest


async def subscribe_attempt(attempt_id: UUID) -> AsyncGenerator[int | None, None]:
    """Yields when `latest_frame` may have changed: the frame's number, or None every 2 s without one."""
    async with contextlib.aclosing(channel_messages(live.frame_channel(attempt_id))) as messages:
        async for message in messages:
            yield None if message is None else int(message["seq"])


async def latest_frame(attempt_id: UUID) -> live.LiveFrame | None:
    """The newest frame; None if there is none or the broker is unavailable."""
    client = broker_client()
    if client is None:
        return None
    try:
        value = await client.get(live.frame_key(attempt_id))
    except (redis.RedisError, OSError):
        return None
    return None if value is None else live.unpack(value)


async def mark_watching(attempt_id: UUID, viewer: str = "viewer", width: int = live.FULL_WIDTH) -> bool:
    """Marks `viewer` as watching the attempt for the next 6 s, in a picture of that many pixels.

    False while the broker is unavailable.
    """
    client = broker_client()
    if client is None:
        return False
    now, key = time.time(), live.watch_key(attempt_id)
    try:
        async with client.pipeline(transaction=False) as pipe:
            pipe.zadd(key, {live.watch_mark(viewer, width): now + live.WATCH_SECONDS})
            pipe.zremrangebyscore(key, "-inf", now)
            pipe.expire(key, int(live.WATCH_SECONDS * 2))
            await pipe.execute()
    except (redis.RedisError, OSError):
        return False
    return True


async def mark_hurry(attempt_id: UUID) -> None:
    """Requests a higher frame rate for a while."""
    client = broker_client()
    if client is not None:
        with contextlib.suppress(*broker.FAILURES):
            await client.set(live.hurry_key(attempt_id), b"1", px=int(live.HURRY_SECONDS * 1000))
