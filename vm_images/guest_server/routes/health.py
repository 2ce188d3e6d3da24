"""Health of the desktop: /health, requested before every attempt, /limits, and /settled."""

import asyncio
import time
from dataclasses import asdict
from typing import Any

from aiohttp import web

from guest_server import API_VERSION
from guest_server.protocol.machine import Machine, ScreenFrame
from guest_server.routes.files import message_response

_DARK = bytes(range(9))
"""Values of a colour that count as black."""
_ROWS_LOOKED_AT = 64
_BRIGHT_SHARE = 0.002
"""A pointer or a blinking cursor does not make a black screen a picture."""
_MOST_PROCESSES, _LONGEST_NAME = 50, 200
_DAY = 86_400.0


def routes(machine: Machine) -> list[web.RouteDef]:
    """GET /health, GET /limits, POST /settled."""

    async def health(request: web.Request) -> web.Response:
        if request.query.get("only") == "disks":
            disks = await machine.blocking(machine.health.disks)
            return web.json_response({"status": "success", "disks": [asdict(disk) for disk in disks]})
        facts = await machine.blocking(_describe, machine)
        # Last, so that the caller can bound it by two readings of its own clock.
        return web.json_response(facts | {"clock": time.time()})

    async def settled(_: web.Request) -> web.Response:
        await asyncio.to_thread(machine.health.settled)
        return message_response("what starts from now on belongs to a task")

    async def limits(_: web.Request) -> web.Response:
        # In this thread: a desktop that has reached a limit cannot start another one.
        return web.json_response(dict(machine.health.limits_reached()))

    return [web.get("/health", health), web.get("/limits", limits), web.post("/settled", settled)]


def _describe(machine: Machine) -> dict[str, Any]:
    facts = machine.health.facts()
    days = None if facts.licence_until is None else (facts.licence_until - time.time()) / _DAY
    processes = [
        {"pid": process.pid, "name": process.name[:_LONGEST_NAME]} for process in facts.processes[:_MOST_PROCESSES]
    ]
    return {
        "status": "success",
        "api": API_VERSION,
        "platform": machine.platform,
        "screen": {
            "width": machine.screen.width,
            "height": machine.screen.height,
            "scale": facts.scale,
            "black": is_black(machine.screen.peek()),
            "locked": facts.locked,
        },
        "disks": [asdict(disk) for disk in facts.disks],
        "memory_free": facts.memory_free,
        "pending": list(facts.pending),
        "licence_days": days,
        "processes": processes,
    }


def is_black(shot: ScreenFrame) -> bool:
    """Whether a picture is black: hardly a pixel of the sampled rows is brighter."""
    step = max(1, shot.height // _ROWS_LOOKED_AT)
    bright = looked_at = 0
    for row in range(0, shot.height, step):
        start = row * shot.stride
        line = bytes(shot.pixels[start : start + shot.width * 4])
        bright += sum(len(line[colour::4].translate(None, _DARK)) for colour in range(3))
        looked_at += shot.width * 3
    return bright <= looked_at * _BRIGHT_SHARE
