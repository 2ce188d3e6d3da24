"""Ends the desktop: /shutdown."""

from aiohttp import web

from .files import done
from .machine import Machine


def routes(machine: Machine) -> list[web.RouteDef]:
    """POST /shutdown."""

    async def shutdown(_: web.Request) -> web.Response:
        machine.stopping.set()
        return done("the desktop ends")

    return [web.post("/shutdown", shutdown)]
