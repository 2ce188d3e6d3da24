"""The clipboard's text: /clipboard."""

from aiohttp import web

from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import Machine
from guest_server.protocol.params import json_params


def routes(machine: Machine) -> list[web.RouteDef]:
    """GET /clipboard, POST /clipboard."""

    async def read(_: web.Request) -> web.Response:
        return web.json_response({"status": "success", "text": await machine.blocking(machine.clipboard.read)})

    async def write(request: web.Request) -> web.Response:
        text = (await json_params(request)).text("text", longest=machine.limits.text)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise GuestError("bad_request", "'text' holds half of a surrogate pair") from None
        await machine.blocking(machine.clipboard.write, text)
        return web.json_response({"status": "success"})

    return [web.get("/clipboard", read), web.post("/clipboard", write)]
