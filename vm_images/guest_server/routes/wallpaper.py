"""The wallpaper: /wallpaper and /setup/change_wallpaper."""

from pathlib import Path

from aiohttp import web

from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import Machine
from guest_server.protocol.params import json_params


def routes(machine: Machine) -> list[web.RouteDef]:
    """POST /wallpaper, POST /setup/change_wallpaper."""

    async def current(_: web.Request) -> web.Response:
        data = await machine.blocking(_as_png, machine)
        return web.Response(body=data, content_type="image/png")

    async def change(request: web.Request) -> web.Response:
        path = Path((await json_params(request)).path("path"))
        await machine.within(60, machine.shell.set_wallpaper, path)
        return web.Response(text="Wallpaper changed successfully")

    return [web.post("/wallpaper", current), web.post("/setup/change_wallpaper", change)]


def _as_png(machine: Machine) -> bytes:
    import io

    from PIL import Image

    path = machine.shell.wallpaper()
    if path is None:
        raise GuestError("not_found", "the desktop shows a plain colour and no picture")
    with Image.open(path) as image:
        buffer = io.BytesIO()
        image.save(buffer, "PNG")
    return buffer.getvalue()
