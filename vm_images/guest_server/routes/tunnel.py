"""Tunnel to a port of the desktop: /tunnel/{port} carries raw bytes to 127.0.0.1 over a websocket."""

import asyncio
import contextlib

from aiohttp import WSMsgType, web

from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import Machine

_CONNECT_SECONDS = 5.0
_HEARTBEAT_SECONDS = 20.0
_PIECE = 65_536


def routes(machine: Machine) -> list[web.RouteDef]:
    """GET /tunnel/{port} (websocket)."""

    async def tunnel(request: web.Request) -> web.WebSocketResponse:
        reader, writer = await _connect(machine, request.match_info["port"])
        try:
            socket = web.WebSocketResponse(heartbeat=_HEARTBEAT_SECONDS, max_msg_size=machine.limits.message)
            await socket.prepare(request)
            await _relay(socket, reader, writer)
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
        return socket

    return [web.get("/tunnel/{port}", tunnel)]


async def _connect(machine: Machine, text: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if not text.isascii() or not text.isdigit() or int(text) not in machine.tunnel_ports:
        known = ", ".join(map(str, sorted(machine.tunnel_ports)))
        raise GuestError("forbidden", f"port {text[:10]} is not on the allow-list: {known}")
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            return await asyncio.open_connection("127.0.0.1", int(text))
    except (TimeoutError, OSError):
        raise GuestError("refused", f"nothing listens on port {text} of the desktop") from None


async def _relay(socket: web.WebSocketResponse, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Relays both directions until one side ends."""
    tasks = {asyncio.create_task(_outward(socket, reader)), asyncio.create_task(_inward(socket, writer))}
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await socket.close()


async def _outward(socket: web.WebSocketResponse, reader: asyncio.StreamReader) -> None:
    while data := await reader.read(_PIECE):
        await socket.send_bytes(data)


async def _inward(socket: web.WebSocketResponse, writer: asyncio.StreamWriter) -> None:
    async for message in socket:
        if message.type == WSMsgType.BINARY:
            writer.write(message.data)
            await writer.drain()
