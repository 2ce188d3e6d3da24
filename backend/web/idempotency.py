"""`Idempotency-Key` for every POST of the API: claim the key, do the work once, give repetitions the same answer.

Source: draft-ietf-httpapi-idempotency-key-header-07.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, TypeVar

from fastapi import Request, Response
from sqlalchemy.orm import Session
from starlette.datastructures import UploadFile

from backend.addresses import API
from backend.db.session import unit_of_work
from backend.domain.errors import Conflict, DeskarenaError, Invalid
from backend.services.accounts import idempotency as service
from backend.services.accounts.idempotency import KeyClaim, StoredAnswer
from backend.services.accounts.principal import bind
from backend.web.dependencies import AppContext, edge_of
from backend.web.security_middleware import AGENT_PATH

T = TypeVar("T")
HEADER, REPLAY = "Idempotency-Key", "Idempotent-Replay"
LONGEST = 200
WAIT_SECONDS = 60.0
"""How long a repetition waits for the answer of the first request."""
_STORED_HEADERS = ("content-type", "location", "etag")
WITHOUT_KEY = frozenset(
    f"{API}{path}"
    for path in (
        "/tokens",
        "/id-token-exchange",
        "/stream-tickets",
        "/episodes/{episode_id}/agent-token",
        "/public-links",
        "/people",
        "/people/{name}/link",
        "/subscriptions",
        "/subscriptions/{subscription_id}/rotate-secret",
    )
)
"""Routes whose answer has a secret, which is never stored."""


class KeyInUse(Conflict):
    """The first request with this key is still worked on (409)."""

    code = "idempotency_key_in_use"
    retry_after = 5


def takes_key(path: str) -> bool:
    """Whether a POST route takes a key. Agents' answers have one of their own: the number of the step."""
    return path.startswith(API) and path not in WITHOUT_KEY and not path.startswith(AGENT_PATH)


def key_of(request: Request, path: str) -> str | None:
    """The request's key, if any.

    Raises:
        Invalid: it is empty, too long or given twice, or the route takes none.
    """
    keys = request.headers.getlist(HEADER)
    if not keys:
        return None
    if not takes_key(path):
        raise Invalid(
            "this route takes no idempotency key",
            code="idempotency_key_not_supported",
            path=HEADER,
            hint="Leave it out.",
        )
    if len(keys) > 1 or not 0 < len(keys[0]) <= LONGEST or not keys[0].isascii() or not keys[0].isprintable():
        raise Invalid(
            f"expected one key of 1 to {LONGEST} ASCII characters", code="invalid_idempotency_key", path=HEADER
        )
    return keys[0]


async def answer_once(request: Request, key: str, work: Callable[[Request], Awaitable[Response]]) -> Response:
    """The answer of the request, or of the first one with its key.

    Args:
        request: whose caller may do it.
        key: its key.
        work: answers it; with a transaction in `request.state.transaction`, the answer is stored in it.

    Raises:
        Invalid: the key was used for another request.
        KeyInUse: the first request takes longer than `WAIT_SECONDS`.
    """
    edge = edge_of(request)
    fingerprint = await _fingerprint(request)

    def claim_key(session: Session) -> KeyClaim | StoredAnswer | None:
        return service.claim_key(session, key, fingerprint)

    deadline, pause = asyncio.get_running_loop().time() + WAIT_SECONDS, 0.05
    while (claim := await _in_transaction(edge, request, claim_key)) is None:
        if asyncio.get_running_loop().time() > deadline:
            raise KeyInUse("the first request with this key is still being processed", hint="Repeat it later.")
        await asyncio.sleep(pause)
        pause = min(2 * pause, 1.0)
    if isinstance(claim, StoredAnswer):
        return Response(claim.body, claim.status, {**claim.headers, REPLAY: "true"})
    # Entered before the transaction of the work, so that it sees whether that was committed.
    stack: AsyncExitStack = request.scope["fastapi_function_astack"]
    await stack.enter_async_context(_renewed_claim(edge, request, claim))
    response = await work(request)
    await _store(edge, request, claim, response)
    return response


@asynccontextmanager
async def _renewed_claim(edge: AppContext, request: Request, claim: KeyClaim) -> AsyncGenerator[None]:
    """Renews a claim meanwhile, and frees the key if the work fails."""

    async def renew() -> None:
        while True:
            await asyncio.sleep(service.RENEW_SECONDS)
            with suppress(DeskarenaError):
                await _in_transaction(edge, request, lambda session: service.renew_claim(session, claim))

    renewing = asyncio.create_task(renew())
    try:
        yield
    except BaseException:
        with suppress(DeskarenaError):  # Without the database it is free when the claim is old.
            await _in_transaction(edge, request, lambda session: service.release_claim(session, claim))
        raise
    finally:
        renewing.cancel()


async def _store(edge: AppContext, request: Request, claim: KeyClaim, response: Response) -> None:
    headers = {name: response.headers[name] for name in _STORED_HEADERS if name in response.headers}
    answer = StoredAnswer(response.status_code, headers, bytes(response.body))
    transaction: Session | None = getattr(request.state, "transaction", None)
    if transaction is not None:
        await asyncio.to_thread(service.store_answer, transaction, claim, answer)
    else:  # The work has committed by itself, as routes do that wait for the network.
        await _in_transaction(edge, request, lambda session: service.store_answer(session, claim, answer))


async def _in_transaction(edge: AppContext, request: Request, do: Callable[[Session], T]) -> T:
    """Does something in a short transaction of its own."""

    def run() -> T:
        with unit_of_work(edge.factory) as session:
            bind(session, request.state.principal)
            return do(session)

    async with edge.turns.get():
        return await asyncio.to_thread(run)


async def _fingerprint(request: Request) -> str:
    """SHA-256 (hex) of what is asked: method, address and the body's content, however it is written."""
    content = hashlib.sha256(f"{request.method} {request.url.path}?{request.url.query}\n".encode())
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type in {"multipart/form-data", "application/x-www-form-urlencoded"}:
        for name, value in (await request.form()).multi_items():
            content.update(f"{name!r}={value if isinstance(value, str) else value.filename!r}\n".encode())
            if isinstance(value, UploadFile):
                await _add_file(content, value)
    elif await request.body():
        parsed: Any = await request.json()
        content.update(json.dumps(parsed, sort_keys=True).encode())
    return content.hexdigest()


async def _add_file(content: "hashlib._Hash", file: UploadFile) -> None:
    while part := await file.read(1 << 20):
        content.update(part)
    await file.seek(0)
