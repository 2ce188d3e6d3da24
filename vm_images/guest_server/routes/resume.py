"""Resume of a virtual machine, and its trusted authority: /restored and /trust."""

import base64
import binascii

from aiohttp import web

from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import Machine
from guest_server.protocol.params import json_params
from guest_server.protocol.system import System

_MOST_ENTROPY = 4096
_MOST_CERTIFICATE = 64 * 1024
_LATEST = 2.0**40


def routes(machine: Machine) -> list[web.RouteDef]:
    """POST /restored, POST /trust."""

    async def restored(request: web.Request) -> web.Response:
        system, params = _system(machine), await json_params(request)
        now = params.number("time", low=0.0, high=_LATEST)
        entropy = _decode(params.text("entropy", longest=_MOST_ENTROPY))
        secret = params.text("secret", longest=512)
        # The clock first: programs would otherwise see the template's time.
        await machine.blocking(system.set_clock, now)
        await machine.blocking(system.add_entropy, entropy)
        if machine.lines is not None:
            machine.lines.forget()
        machine.secret.replace(secret)
        return web.json_response({"status": "success"})

    async def trust(request: web.Request) -> web.Response:
        certificate = (await json_params(request)).text("certificate", longest=_MOST_CERTIFICATE)
        await machine.blocking(_system(machine).trust, certificate)
        return web.json_response({"status": "success"})

    return [web.post("/restored", restored), web.post("/trust", trust)]


def _system(machine: Machine) -> System:
    if machine.system is None:
        raise GuestError("not_available", "this desktop is not a separate machine: its clock is the worker's")
    return machine.system


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise GuestError("bad_request", "'entropy' must be base64") from None
