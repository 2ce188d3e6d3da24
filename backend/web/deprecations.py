"""Routes that will go: what they answer says since when and until when.

Sources: RFC 9745 (`Deprecation`), RFC 8594 (`Sunset`).
"""

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from email.utils import format_datetime
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

PAGE = "/docs/api.html#deprecated-addresses"
_EXTRA = "x-deprecation"


@dataclass(frozen=True)
class Deprecation:
    """Since when an address is deprecated, and the day on which it goes (both at midnight UTC)."""

    since: date
    until: date

    @property
    def options(self) -> dict[str, Any]:
        """Keyword arguments of the route."""
        return {"deprecated": True, "openapi_extra": {_EXTRA: [self.since.isoformat(), self.until.isoformat()]}}

    @property
    def headers(self) -> dict[str, str]:
        """Headers of every answer of the route."""
        return {
            "Deprecation": f"@{int(_midnight(self.since).timestamp())}",
            "Sunset": format_datetime(_midnight(self.until), usegmt=True),
            "Link": f'<{PAGE}>; rel="deprecation"',
        }


def deprecation_of(route: APIRoute) -> Deprecation | None:
    """Of a route; None if it stays."""
    dates = (route.openapi_extra or {}).get(_EXTRA)
    return None if dates is None else Deprecation(*map(date.fromisoformat, dates))


def with_dates(
    deprecation: Deprecation, answer: Callable[[Request], Awaitable[Response]]
) -> Callable[[Request], Coroutine[Any, Any, Response]]:
    """A route's handler whose answers have the headers."""

    async def dated(request: Request) -> Response:
        response = await answer(request)
        response.headers.update(deprecation.headers)
        return response

    return dated


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
