"""The log of what was done with mouse and keyboard: /interactions."""

from aiohttp import web

from guest_server.protocol.machine import Machine
from guest_server.protocol.params import query_params

_LARGEST = 2**53


def routes(machine: Machine) -> list[web.RouteDef]:
    """GET /interactions."""

    async def get(request: web.Request) -> web.Response:
        since = query_params(request).integer("since", 0, low=0, high=_LARGEST)
        entries = await machine.interactions.entries(since)
        return web.json_response({"status": "success", "interactions": entries})

    return [web.get("/interactions", get)]
