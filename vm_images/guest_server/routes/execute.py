"""Runs a command and waits for it: /execute and /setup/execute."""

from typing import Any

from aiohttp import web

from guest_server.protocol.commands import read_command
from guest_server.protocol.machine import CommandResult, CommandSpec, Machine
from guest_server.protocol.params import RequestParams, json_params

_MARGIN_SECONDS = 10.0


def routes(machine: Machine) -> list[web.RouteDef]:
    """POST /execute, POST /setup/execute."""

    async def execute(request: web.Request) -> web.Response:
        params = await json_params(request)
        seconds = deadline(params, machine, machine.limits.command_seconds)
        result = await run(machine, read_command(params, machine), seconds)
        return web.json_response(reply(result))

    return [web.post(path, execute) for path in ("/execute", "/setup/execute")]


def deadline(params: RequestParams, machine: Machine, default: float) -> float:
    """The request's `timeout` in seconds."""
    return params.number("timeout", default, low=0.01, high=machine.limits.longest_seconds)


async def run(machine: Machine, spec: CommandSpec, seconds: float) -> CommandResult:
    """Runs a command in a thread, with the output limit."""
    limit = machine.limits.output
    return await machine.within(seconds + _MARGIN_SECONDS, machine.commands.run, spec, timeout=seconds, limit=limit)


def reply(result: CommandResult) -> dict[str, Any]:
    """A finished command in OSWorld's form. A failed command is not an error of the route."""
    return {
        "status": "success",
        "output": result.output,
        "error": result.error,
        "returncode": result.returncode,
        "truncated": result.truncated,
    }
