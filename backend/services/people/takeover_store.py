"""Controller of the mouse and keyboard of an attempt's desktop, stored in the broker.

A short-lived key has the token of the controlling page, which renews it. It survives a reload by a few seconds; when
the person leaves, control returns to the agent.
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
    """Channel of a person's actions in an agent's attempt."""
    return uuid5(attempt_id, "hand")


def _key(attempt_id: UUID) -> str:
    return f"deskarena:hand:{attempt_id}"


def hand_of(attempt_id: UUID) -> str:
    """Token of the controlling page; empty if there is none, or the broker is unavailable."""
    value = broker.current().call(lambda client: client.get(_key(attempt_id)), None)
    return value.decode() if value else ""


async def take_hand(attempt_id: UUID, token: str) -> bool:
    """Takes or keeps control; False if somebody else is in control or the broker is unavailable."""
    life = int(HAND_SECONDS * 1000)
    return bool(await _call(lambda client: client.eval(_TAKE, 1, _key(attempt_id), token, life)))


async def give_hand(attempt_id: UUID, token: str) -> None:
    """Returns control, if the token has it."""
    await _call(lambda client: client.eval(_GIVE, 1, _key(attempt_id), token))


async def holder(attempt_id: UUID) -> str:
    """Like `hand_of`, without blocking."""
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
