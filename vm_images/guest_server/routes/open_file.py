"""Opens a file with its default application and waits for its window: /setup/open_file."""

import asyncio
import time
from pathlib import Path

from aiohttp import web

from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import CommandSpec, Machine
from guest_server.protocol.params import json_params
from guest_server.routes.execute import run

_LOOK_SECONDS = 0.03
# Programs may show a splash window first; what still exists after this time is the real one.
_STAYS_SECONDS = 1.0
_OPENER_SECONDS = 20.0


def routes(machine: Machine) -> list[web.RouteDef]:
    """POST /setup/open_file."""

    async def open_file(request: web.Request) -> web.Response:
        params = await json_params(request)
        path = Path(params.path("path"))
        longest = machine.limits.longest_seconds
        seconds = params.number("timeout", machine.limits.window_seconds, low=0.1, high=longest)
        before = {window.id for window in await machine.blocking(machine.windows.all)}
        name = await _start(machine, path)
        title = await _wait_window(machine, name, before, seconds)
        return web.Response(text=f"opened '{path}' in the window '{title}'")

    return [web.post("/setup/open_file", open_file)]


async def _start(machine: Machine, path: Path) -> str:
    """Opens it; returns the part of a window's title by which to find it (empty: any new window)."""
    if await asyncio.to_thread(path.exists):
        result = await run(machine, machine.shell.opener(path), _OPENER_SECONDS)
        if result.returncode:
            raise GuestError("failed", f"'{path}' cannot be opened: {(result.error or result.output).strip()}")
        return path.stem
    # OSWorld's tasks also give the name of an application.
    command = machine.shell.program(path.name) if path.name == str(path) else ()
    if command:
        await machine.blocking(machine.commands.start, CommandSpec(command))
        return ""
    raise GuestError("not_found", f"'{path}' does not exist")


async def _wait_window(machine: Machine, name: str, before: set[int], seconds: float) -> str:
    """Waits for a window with the file's name, or for a new one without it that stays."""
    start = time.monotonic()
    appeared_at: dict[int, float] = {}
    while True:
        now = time.monotonic()
        for window in reversed(await machine.blocking(machine.windows.all)):
            if name and name.lower() in window.title.lower():
                return window.title
            if window.id not in before and now - appeared_at.setdefault(window.id, now) >= _STAYS_SECONDS:
                return window.title
        if now - start >= seconds:
            raise GuestError("timeout", f"no window appeared within {seconds:g} s")
        await asyncio.sleep(_LOOK_SECONDS)
