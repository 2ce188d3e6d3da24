"""Runs a command and waits for its effect: /execute_with_verification."""

import asyncio
import time
from typing import Any

from aiohttp import web

from guest_server.protocol.commands import read_command
from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import CommandSpec, Machine
from guest_server.protocol.params import RequestParams, json_params
from guest_server.protocol.window_matching import find_window
from guest_server.routes.execute import reply, run

_PATHS = ("/execute_with_verification", "/setup/execute_with_verification")


def routes(machine: Machine) -> list[web.RouteDef]:
    """POST /execute_with_verification, POST /setup/execute_with_verification."""

    async def execute(request: web.Request) -> web.Response:
        params = await json_params(request)
        conditions = RequestParams(params.mapping("verification"))
        longest = params.number("max_wait_time", 10, low=0, high=machine.limits.longest_seconds)
        pause = params.number("check_interval", 1, low=0.01, high=60)
        result = await run(machine, read_command(params, machine), machine.limits.command_seconds)
        waited = await _wait(machine, conditions, longest, pause, reply(result))
        return web.json_response({**reply(result), "verification": conditions.values, "wait_time": waited})

    return [web.post(path, execute) for path in _PATHS]


async def _wait(
    machine: Machine, conditions: RequestParams, longest: float, pause: float, result: dict[str, Any]
) -> float:
    start = time.monotonic()
    while True:
        missing = await _missing(machine, conditions)
        waited = time.monotonic() - start
        if not missing:
            return waited
        if waited >= longest:
            details = {"output": result["output"], "stderr": result["error"], "returncode": result["returncode"]}
            message = f"{missing} {longest:g} s after the command"
            raise GuestError("verification_failed", message, wait_time=waited, **details) from None
        await asyncio.sleep(min(pause, max(0.0, longest - waited)))


async def _missing(machine: Machine, conditions: RequestParams) -> str:
    """The first missing condition; empty if all are met."""
    window = conditions.text("window_exists", "")
    if window and find_window(await machine.blocking(machine.windows.all), window) is None:
        return f"no window '{window}' was there"
    command = conditions.text("command_success", "")
    if command:
        spec = CommandSpec([command], shell=True)  # noqa: S604 - a task's own line.
        result = await run(machine, spec, machine.limits.command_seconds)
        if result.returncode != 0:
            return f"'{command}' still gave exit code {result.returncode}"
    return ""
