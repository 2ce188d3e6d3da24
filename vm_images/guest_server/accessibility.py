"""The accessibility tree, the terminal's text, and the text at the cursor."""

from aiohttp import web

from .machine import Machine, TreeBounds
from .params import query_params


def routes(machine: Machine) -> list[web.RouteDef]:
    """GET /accessibility, GET /terminal, GET /text_cursor."""
    limits = machine.limits

    async def tree(request: web.Request) -> web.Response:
        params = query_params(request)
        bounds = TreeBounds(
            nodes=params.integer("max_nodes", limits.a11y_nodes, low=1, high=limits.a11y_nodes),
            depth=params.integer("max_depth", limits.a11y_depth, low=1, high=limits.a11y_depth),
            children=limits.a11y_children,
            seconds=params.number("timeout", limits.a11y_seconds, low=0.1, high=limits.a11y_seconds),
        )
        found = await machine.accessibility.tree(bounds)
        return web.json_response({"AT": found.xml, "nodes": found.nodes, "cut": found.cut})

    async def terminal(_: web.Request) -> web.Response:
        text = await machine.accessibility.terminal()
        return web.json_response({"output": text, "status": "success"})

    async def text_cursor(_: web.Request) -> web.Response:
        return web.json_response({"status": "success", **await machine.accessibility.text_cursor()})

    return [web.get("/accessibility", tree), web.get("/terminal", terminal), web.get("/text_cursor", text_cursor)]
