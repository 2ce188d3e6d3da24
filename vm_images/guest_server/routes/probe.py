"""Identity: /probe, /platform, and a new secret."""

import asyncio
import shutil
import time
from typing import Any

from aiohttp import web

from guest_server import API_VERSION
from guest_server.memory import free_memory
from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import Machine
from guest_server.protocol.params import json_params

_CAPABILITIES = (
    "screen",
    "stream",
    "input",
    "interactions",
    "a11y",
    "clipboard",
    "windows",
    "execute",
    "files",
    "tunnel",
)


def routes(machine: Machine) -> list[web.RouteDef]:
    """GET /probe, GET /platform, POST /secret."""

    async def probe(_: web.Request) -> web.Response:
        return web.json_response(await asyncio.to_thread(_describe, machine))

    async def platform(_: web.Request) -> web.Response:
        return web.Response(text=machine.platform)

    async def secret(request: web.Request) -> web.Response:
        machine.secret.replace((await json_params(request)).text("secret", longest=512))
        return web.json_response({"status": "success"})

    return [web.get("/probe", probe), web.get("/platform", platform), web.post("/secret", secret)]


def _describe(machine: Machine) -> dict[str, Any]:
    return {
        "status": "success",
        "message": "the desktop is ready",
        "api": API_VERSION,
        "platform": machine.platform,
        "screen": {"width": machine.screen.width, "height": machine.screen.height, "scale": machine.screen.scale},
        "capabilities": [*_CAPABILITIES, *_optional(machine)],
        "clock": time.time(),
        "disk_free": shutil.disk_usage(machine.home).free,
        "memory_free": free_memory(),
    }


def _optional(machine: Machine) -> list[str]:
    """Optional capabilities, by installation and configuration."""
    features = ["download"] if machine.egress_proxy else []
    try:
        machine.shell.recorder(machine.home)
    except GuestError:
        return features
    return [*features, "recording"]
