"""Text of a desktop's clipboard, for the person who acts there: requested by the page, read by the worker."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

from backend.services.events import broker, watch

ANSWER_SECONDS = 5.0
"""A request that no worker has answered by then has failed."""
MOST_TEXT = 100_000
"""Characters that are sent to the page."""
_WAIT_SECONDS = 1
"""Of one call: less than the connection's time limit."""


def _request_key(attempt_id: UUID) -> str:
    return f"deskarena:clipboard-request:{attempt_id}"


def _text_key(request: str) -> str:
    return f"deskarena:clipboard:{request}"


def clipboard_request(attempt_id: UUID) -> str:
    """Id of an unanswered request; empty if there is none, or the broker is unavailable."""
    value = broker.current().call(lambda client: client.get(_request_key(attempt_id)), None)
    return value.decode() if value else ""


def put_clipboard(attempt_id: UUID, request: str, text: str) -> None:
    """Answers a request; text beyond `MOST_TEXT` characters is cut off."""

    def work(client: Any) -> None:
        pipe = client.pipeline(transaction=False)
        pipe.rpush(_text_key(request), text[:MOST_TEXT].encode())
        pipe.pexpire(_text_key(request), int(ANSWER_SECONDS * 1000))
        pipe.delete(_request_key(attempt_id))
        pipe.execute()

    broker.current().call(work, None)


async def read_clipboard(attempt_id: UUID) -> str | None:
    """The text of the desktop's clipboard, empty if it has none; None without an answer within 5 s."""
    client = watch.broker_client()
    if client is None:
        return None
    request = uuid4().hex
    try:
        await client.set(_request_key(attempt_id), request, px=int(ANSWER_SECONDS * 1000))
        async with asyncio.timeout(ANSWER_SECONDS):
            while (value := await client.blpop([_text_key(request)], timeout=_WAIT_SECONDS)) is None:
                pass
    except (TimeoutError, *broker.FAILURES):
        return None
    return str(value[1].decode())
