"""Finds the routes of a request by the first part of its path: of `/runs/7`, those whose paths start with `/runs`.

FastAPI tries its routers one after the other, and the chosen one's routes twice: with 80 routers that takes a
millisecond of each request.
"""

from collections.abc import Iterator
from functools import cached_property

from fastapi import APIRouter
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from backend.addresses import API

ANY = ""
"""In place of a first part that may be any."""


class RouteIndex:
    """The application of a router, which offers each request only the routes that can match it, in the router's order.

    Args:
        router: with all its routes, before the first request.
    """

    def __init__(self, router: APIRouter) -> None:
        self._router = router
        self._whole: ASGIApp = router.middleware_stack

    @cached_property
    def _parts(self) -> dict[str, APIRouter]:
        keys = [(route, frozenset(_keys(route))) for route in self._router.routes]
        named = {key for _, own in keys for key in own if key}
        return {key: self._part([route for route, own in keys if own & {key, ANY}]) for key in named}

    def _part(self, routes: list[BaseRoute]) -> APIRouter:
        return APIRouter(routes=routes, redirect_slashes=self._router.redirect_slashes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request or websocket. The whole router handles unknown prefixes and lifespan."""
        part = self.part_of(scope)
        if part is None:
            await self._whole(scope, receive, send)
            return
        scope.setdefault("router", self._router)
        await part(scope, receive, send)

    def part_of(self, scope: Scope) -> APIRouter | None:
        """The routes that can match a request; None if no route has its prefix."""
        if scope["type"] == "lifespan" or scope.get("root_path"):
            return None
        return self._parts.get(first_part(scope["path"]))


def first_part(path: str) -> str:
    """`/runs` of `/runs/7`; below the API with the part after it: `/api/v1/runs` of `/api/v1/runs/7`."""
    start = len(API) + 1 if path.startswith(f"{API}/") else 1
    end = path.find("/", start)
    return path if end < 0 else path[:end]


def _keys(route: BaseRoute) -> Iterator[str]:
    """First parts of the paths of a router or route."""
    for path in _paths(route):
        key = first_part(path)
        yield ANY if "{" in key else key


def _paths(route: BaseRoute) -> Iterator[str]:
    """Paths as the routers were written with: FastAPI's own walk builds all that a request to each of them needs."""
    included = getattr(route, "original_router", None)
    if included is None:
        yield getattr(route, "path", "")
    else:
        for inner in included.routes:
            yield from _paths(inner)
