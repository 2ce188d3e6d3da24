"""A limit of requests to the API for each person and program.

A token bucket in this process: several processes allow as many times the limit together.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from backend.addresses import API
from backend.domain.errors import DeskarenaError
from backend.services.accounts.principal import Principal
from backend.web.errors import problem_response
from backend.web.security_middleware import AGENT_PATH

WITH_ACCOUNTS = 1200
"""Requests a minute, where people have accounts and the setting is not set."""
_MOST_BUCKETS = 10_000


class TooManyRequests(DeskarenaError):
    """The caller has used up its requests for now (429)."""

    status = 429
    code = "rate_limited"

    def __init__(self, per_minute: int, seconds: int) -> None:
        super().__init__(
            f"more than {per_minute} requests a minute", hint=f"Repeat it after {seconds} s, as Retry-After says."
        )
        self.retry_after = seconds


@dataclass(frozen=True)
class _Bucket:
    """Requests that were left at a time of the monotonic clock."""

    left: float
    at: float


class RateLimits:
    """ASGI middleware below authentication. Agents in an episode are not limited."""

    def __init__(self, app: ASGIApp, per_minute: int, now: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._per_minute = per_minute
        self._now = now
        self._buckets: dict[str, _Bucket] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, or refuses it with 429."""
        limited = scope["type"] == "http" and scope["path"].startswith(f"{API}/")
        if not self._per_minute or not limited or scope["path"].startswith(AGENT_PATH):
            await self._app(scope, receive, send)
            return
        seconds = self._take(_caller(scope["state"]["principal"]))
        if not seconds:
            await self._app(scope, receive, send)
            return
        await problem_response(TooManyRequests(self._per_minute, seconds))(scope, receive, send)

    def _take(self, caller: str) -> int:
        """Takes one request; seconds until there is one, 0 if there was."""
        now, rate = self._now(), self._per_minute / 60
        bucket = self._buckets.pop(caller, None) or _Bucket(self._per_minute, now)
        tokens = min(self._per_minute, bucket.left + (now - bucket.at) * rate)
        while len(self._buckets) >= _MOST_BUCKETS:  # The one that was used longest ago is full again, or nearly.
            del self._buckets[next(iter(self._buckets))]
        self._buckets[caller] = _Bucket(tokens - 1 if tokens >= 1 else tokens, now)
        return 0 if tokens >= 1 else max(1, math.ceil((1 - tokens) / rate))


def _caller(principal: Principal) -> str:
    if principal.user_id or principal.name:
        return str(principal.user_id or f"{principal.project_id} {principal.name}")
    return principal.address
