"""Starts a program and does not wait: /setup/launch."""

from aiohttp import web

from guest_server.protocol.commands import read_command
from guest_server.protocol.machine import Machine
from guest_server.protocol.params import json_params


def routes(machine: Machine) -> list[web.RouteDef]:
    """POST /setup/launch."""

    async def launch(request: web.Request) -> web.Response:
        spec = read_command(await json_params(request), machine)
        await machine.blocking(machine.commands.start, spec)
        return web.Response(text=f"{' '.join(spec.argv)[:200]} launched successfully")

    return [web.post("/setup/launch", launch)]
