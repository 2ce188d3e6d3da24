"""Ends the desktop: /shutdown."""

from aiohttp import web

from guest_server.protocol.machine import Machine
from guest_server.routes.files import message_response


def routes(machine: Machine) -> list[web.RouteDef]:
    """POST /shutdown."""

    async def shutdown(_: web.Request) -> web.Response:
        machine.stopping.set()
        return message_response("the desktop ends")

    return [web.post("/shutdown", shutdown)]
