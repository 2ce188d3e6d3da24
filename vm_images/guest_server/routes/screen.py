"""Pictures of the screen and what belongs to them."""

from aiohttp import web

from guest_server.protocol.machine import Machine
from guest_server.protocol.params import query_params

_LONGEST_WAIT = 120.0


def routes(machine: Machine) -> list[web.RouteDef]:
    """GET /screenshot, GET /frame, POST /screen_size, GET /cursor_position, GET /stable."""
    screen = machine.screen

    async def screenshot(_: web.Request) -> web.Response:
        from guest_server.protocol.frames import to_png

        data = await machine.blocking(lambda: to_png(screen.grab()))
        return web.Response(body=data, content_type="image/png")

    async def frame(request: web.Request) -> web.Response:
        from guest_server.protocol.frames import to_jpeg

        params = query_params(request)
        if params.text("format", "jpeg") == "png":
            return await screenshot(request)
        quality = params.integer("quality", 70, low=1, high=95)
        data, _, _ = await machine.blocking(lambda: to_jpeg(screen.peek(), quality=quality))
        return web.Response(body=data, content_type="image/jpeg", headers=size_headers(machine))

    async def screen_size(_: web.Request) -> web.Response:
        return web.json_response({"width": screen.width, "height": screen.height})

    async def cursor_position(_: web.Request) -> web.Response:
        return web.json_response(list(await machine.blocking(screen.pointer)))

    async def stable(request: web.Request) -> web.Response:
        return await _stable(machine, request)

    return [
        web.get("/screenshot", screenshot),
        web.get("/frame", frame),
        web.post("/screen_size", screen_size),
        web.get("/cursor_position", cursor_position),
        web.get("/stable", stable),
    ]


def size_headers(machine: Machine) -> dict[str, str]:
    """The picture's size, so that a reader need not decode it."""
    return {"X-Width": str(machine.screen.width), "X-Height": str(machine.screen.height)}


async def _stable(machine: Machine, request: web.Request) -> web.Response:
    import time

    params = query_params(request)
    quiet = params.number("quiet", 0.5, low=0, high=_LONGEST_WAIT)
    timeout = params.number("timeout", 5, low=0, high=_LONGEST_WAIT)
    start = time.monotonic()
    longest = timeout + machine.limits.blocking_seconds
    still = await machine.within(longest, machine.screen.wait_stable, quiet, timeout)
    return web.json_response({"status": "success", "stable": still, "elapsed": time.monotonic() - start})
