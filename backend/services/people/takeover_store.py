"""Who has the mouse and keyboard of an attempt's desktop, as it lies in the broker.

One key with a short life holds the token of the page that has taken them; the page renews it. It outlives a reload of
the page by a few seconds, and a person who has gone gives the desktop back by that.
"""

from typing import Any
from uuid import UUID, uuid5

from backend.services.events import broker, watch

HAND_SECONDS = 15.0

_TAKE = """
local has = redis.call('GET', KEYS[1])
if has and has ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""
_GIVE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"


def hand_line(attempt_id: UUID) -> UUID:
    """The line by which a person's actions come into an agent's attempt."""
    return uuid5(attempt_id, "hand")


def _key(attempt_id: UUID) -> str:
    return f"deskarena:hand:{attempt_id}"


def hand_of(attempt_id: UUID) -> str:
    """The token of who has taken over; empty if nobody has, or the broker is away."""
    value = broker.current().call(lambda client: client.get(_key(attempt_id)), None)
    return value.decode() if value else ""


async def take_hand(attempt_id: UUID, token: str) -> bool:
    """Takes the desktop, or keeps it; False if somebody else has it or the broker is away."""
    life = int(HAND_SECONDS * 1000)
    return bool(await _call(lambda client: client.eval(_TAKE, 1, _key(attempt_id), token, life)))


async def give_hand(attempt_id: UUID, token: str) -> None:
    """Gives it back, if it is that token's."""
    await _call(lambda client: client.eval(_GIVE, 1, _key(attempt_id), token))


async def holder(attempt_id: UUID) -> str:
    """Like `hand_of`, without holding up anybody."""
    value = await _call(lambda client: client.get(_key(attempt_id)))
    return value.decode() if value else ""


async def _call(work: Any) -> Any:
    client = watch.broker_client()
    if client is None:
        return None
    try:
        return await work(client)
    except broker.FAILURES:
        return None
