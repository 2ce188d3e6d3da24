"""Live view: /stream sends a picture whenever the screen has changed, and receives input."""

import asyncio
import contextlib
import json
import time
from dataclasses import dataclass
from typing import Any

from aiohttp import WSMsgType, web

from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import Machine, ScreenFrame
from guest_server.protocol.params import RequestParams, query_params
from guest_server.routes.mouse_and_keyboard import carry_out

_HEARTBEAT_SECONDS = 20.0


@dataclass
class _Rate:
    """The viewer's settings, which may change at any time."""

    fps: float
    quality: int
    scale: float

    def change(self, params: RequestParams, most: float) -> None:
        """Updates the given values."""
        self.fps, self.quality, self.scale = (
            params.number("fps", self.fps, low=0.1, high=most),
            params.integer("quality", self.quality, low=1, high=95),
            params.number("scale", self.scale, low=0.05, high=1),
        )


def routes(machine: Machine) -> list[web.RouteDef]:
    """GET /stream (websocket)."""

    async def stream(request: web.Request) -> web.WebSocketResponse:
        rate = _Rate(5.0, 70, 1.0)
        rate.change(query_params(request), machine.limits.frames_per_second)
        socket = web.WebSocketResponse(heartbeat=_HEARTBEAT_SECONDS, max_msg_size=machine.limits.message)
        await socket.prepare(request)
        changed = asyncio.Event()
        pump = asyncio.create_task(_pump(machine, socket, rate, changed))
        try:
            await _listen(machine, socket, rate, changed)
        finally:
            pump.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionError, GuestError):
                await pump
        return socket

    return [web.get("/stream", stream)]


async def _pump(machine: Machine, socket: web.WebSocketResponse, rate: _Rate, changed: asyncio.Event) -> None:
    """Sends pictures. A slow viewer makes it wait and then gets the newest picture."""
    number = 0
    last: object = None
    form: tuple[int, float] | None = None
    while not socket.closed and not machine.stopping.is_set():
        shot = await machine.blocking(machine.screen.grab)
        shot_at = time.monotonic()  # The rate counts from here: after a slow picture the next one does not hurry.
        next_form = (rate.quality, rate.scale)
        if shot.pixels != last or next_form != form:
            number, last, form = number + 1, shot.pixels, next_form
            await _send(machine, socket, shot, rate, number)
        changed.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, shot_at + 1 / rate.fps - time.monotonic())):
                await changed.wait()
    await socket.close()


async def _send(machine: Machine, socket: web.WebSocketResponse, shot: ScreenFrame, rate: _Rate, number: int) -> None:
    from guest_server.protocol.frames import to_jpeg

    moment = time.time()
    data, width, height = await machine.blocking(to_jpeg, shot, quality=rate.quality, scale=rate.scale)
    await socket.send_json({"type": "frame", "seq": number, "t": moment, "width": width, "height": height})
    await socket.send_bytes(data)


async def _listen(machine: Machine, socket: web.WebSocketResponse, rate: _Rate, changed: asyncio.Event) -> None:
    """Takes `{"type": "rate", ...}` and `{"type": "input", "events": [...]}` until the viewer leaves."""
    async for message in socket:
        if message.type != WSMsgType.TEXT:
            continue
        try:
            answer = await _handle_message(machine, json.loads(message.data), rate, changed)
        except GuestError as error:
            answer = error.body()
        except (ValueError, RecursionError) as error:
            answer = GuestError("bad_request", f"the message is not JSON: {error}").body()
        if answer:
            await socket.send_json({"type": "answer", **answer})


async def _handle_message(machine: Machine, value: Any, rate: _Rate, changed: asyncio.Event) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise GuestError("bad_request", "a message is a JSON object with a 'type'")
    params = RequestParams(value)
    kind = params.text("type")
    if kind == "rate":
        rate.change(params, machine.limits.frames_per_second)
        changed.set()
        return {}
    if kind == "input":
        count = await carry_out(machine, value.get("events"))
        return {"status": "success", "events": count, "id": value.get("id")}
    raise GuestError("bad_request", f"unknown message type '{kind}'; known: rate, input")
