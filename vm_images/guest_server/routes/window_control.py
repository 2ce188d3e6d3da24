"""Lists, activates, places, measures and closes windows."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict

from aiohttp import web

from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import Machine, Placement, WindowInfo
from guest_server.protocol.params import RequestParams, form_params, json_params
from guest_server.protocol.window_matching import find_window

_CLOSE_SECONDS = 3.0
_KILL_SECONDS = 3.0
_END_SECONDS = 2.0
_LOOK_SECONDS = 0.02
_FARTHEST = 32767  # pixels; X11 has no more


def routes(machine: Machine) -> list[web.RouteDef]:
    """GET /windows, POST /window_size, POST /setup/{activate_window,place_window,close_window,close_all}."""

    async def listing(_: web.Request) -> web.Response:
        windows = await machine.blocking(machine.windows.all)
        return web.json_response({"status": "success", "windows": [asdict(window) for window in windows]})

    async def size(request: web.Request) -> web.Response:
        name = (await form_params(request)).text("app_class_name", longest=1000)
        window = find_window(await machine.blocking(machine.windows.all), name, by_class=True)
        if window is None:
            raise GuestError("not_found", f"no window of class '{name}'")
        return web.json_response({"width": window.width, "height": window.height})

    async def activate(request: web.Request) -> web.Response:
        window = await _window_by_name(machine, await json_params(request))
        if not await machine.blocking(machine.windows.activate, window):
            raise GuestError("failed", f"the window manager did not activate '{window.title}'")
        return web.Response(text=f"window '{window.title}' activated")

    async def place(request: web.Request) -> web.Response:
        params = await json_params(request)
        window, placement = await _window_by_name(machine, params), _placement(params)
        placed = await machine.blocking(machine.windows.place, window, placement)
        if placed is None:
            raise GuestError("failed", f"the window '{window.title}' closed when it was moved")
        return web.json_response({"status": "success", "window": asdict(placed)})

    async def close(request: web.Request) -> web.Response:
        window = await _window_by_name(machine, await json_params(request))
        await machine.blocking(machine.windows.close, window)
        return web.Response(text=f"window '{window.title}' was asked to close")

    async def close_all(_: web.Request) -> web.Response:
        return web.Response(text=await _close_all(machine))

    return [
        web.get("/windows", listing),
        web.post("/window_size", size),
        web.post("/setup/activate_window", activate),
        web.post("/setup/place_window", place),
        web.post("/setup/close_window", close),
        web.post("/setup/close_all", close_all),
    ]


async def _window_by_name(machine: Machine, params: RequestParams) -> WindowInfo:
    name = params.text("window_name", longest=1000)
    strict, by_class = params.flag("strict"), params.flag("by_class")
    windows = await machine.blocking(machine.windows.all)
    window = find_window(windows, name, strict=strict, by_class=by_class)
    if window is None:
        titles = ", ".join(f"'{window.title}'" for window in windows[:20]) or "none"
        raise GuestError("not_found", f"no window matches '{name}'; open windows: {titles}")
    return window


def _placement(params: RequestParams) -> Placement:
    def whole(name: str, low: int) -> int | None:
        present = params.values.get(name) is not None
        return params.integer(name, low=low, high=_FARTHEST) if present else None

    return Placement(
        x=whole("x", -_FARTHEST),
        y=whole("y", -_FARTHEST),
        width=whole("width", 1),
        height=whole("height", 1),
        maximized=params.flag("maximized"),
    )


async def _close_all(machine: Machine) -> str:
    """Asks every window to close, then ends the applications of those that stay."""
    windows = await machine.blocking(machine.windows.all)
    await _each(machine, machine.windows.close, windows)
    open_windows = await _wait_gone(machine, _CLOSE_SECONDS)
    await _each(machine, machine.windows.kill, open_windows)
    if await _wait_gone(machine, _KILL_SECONDS):
        raise GuestError("failed", "some windows cannot be closed")
    await _wait_ended(machine, {window.pid for window in windows if window.pid})
    return f"{len(windows)} windows closed, {len(open_windows)} of them by force"


async def _each(machine: Machine, act: Callable[[WindowInfo], None], windows: Sequence[WindowInfo]) -> None:
    for window in windows:
        await machine.blocking(act, window)


async def _wait_gone(machine: Machine, seconds: float) -> list[WindowInfo]:
    deadline = time.monotonic() + seconds
    while True:
        remaining = await machine.blocking(machine.windows.all)
        if not remaining or time.monotonic() >= deadline:
            return remaining
        await asyncio.sleep(_LOOK_SECONDS)


async def _wait_ended(machine: Machine, pids: set[int]) -> None:
    """Waits a moment for the windows' programs to end.

    A program that is just ending may take over the request of its own next start, and open nothing. Some programs keep
    running without a window; they are left alone.
    """
    deadline = time.monotonic() + _END_SECONDS
    while time.monotonic() < deadline:
        if not any(machine.commands.alive(pid) for pid in pids):
            return
        await asyncio.sleep(_LOOK_SECONDS)
