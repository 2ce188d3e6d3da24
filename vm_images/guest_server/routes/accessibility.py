"""The accessibility tree, the terminal's text, and the text at the cursor."""

from aiohttp import web

from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import Machine, TreeRequest
from guest_server.protocol.params import RequestParams, query_params

_BACKENDS, _NAMES = ("", "uia", "win32"), ("osworld", "waa")


def routes(machine: Machine) -> list[web.RouteDef]:
    """GET /accessibility, GET /terminal, GET /text_cursor."""
    limits = machine.limits

    async def tree(request: web.Request) -> web.Response:
        params = query_params(request)
        options = TreeRequest(
            nodes=params.integer("max_nodes", limits.a11y_nodes, low=1, high=limits.a11y_nodes),
            depth=params.integer("max_depth", limits.a11y_depth, low=1, high=limits.a11y_depth),
            children=limits.a11y_children,
            seconds=params.number("timeout", limits.a11y_seconds, low=0.1, high=limits.a11y_seconds),
            backend=_one_of(params, "backend", _BACKENDS),
            names=_one_of(params, "names", _NAMES),
        )
        tree = await machine.accessibility.tree(options)
        return web.json_response({"AT": tree.xml, "nodes": tree.nodes, "cut": tree.cut})

    async def terminal(_: web.Request) -> web.Response:
        text = await machine.accessibility.terminal()
        return web.json_response({"output": text, "status": "success"})

    async def text_cursor(_: web.Request) -> web.Response:
        return web.json_response({"status": "success", **await machine.accessibility.text_cursor()})

    return [web.get("/accessibility", tree), web.get("/terminal", terminal), web.get("/text_cursor", text_cursor)]


def _one_of(params: RequestParams, name: str, known: tuple[str, ...]) -> str:
    value = params.text(name, known[0])
    if value not in known:
        raise GuestError("bad_request", f"'{name}' must be {' or '.join(filter(None, known))}, not {value[:40]!r}")
    return value
