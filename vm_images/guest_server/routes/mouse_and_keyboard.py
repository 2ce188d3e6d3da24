"""Mouse and keyboard: /input."""

from collections.abc import Sequence
from typing import Any

from aiohttp import web

from guest_server.protocol.errors import GuestError
from guest_server.protocol.input_events import Drag, Event, Hotkey, Move, Type, read_events
from guest_server.protocol.machine import Machine

_SECONDS_PER_CHARACTER = 0.05


def routes(machine: Machine) -> list[web.RouteDef]:
    """POST /input."""

    async def post(request: web.Request) -> web.Response:
        import json

        try:
            value = json.loads(await request.read())
        except (ValueError, RecursionError) as error:
            raise GuestError("bad_request", f"the body is not JSON: {error}") from None
        count = await carry_out(machine, value.get("events") if isinstance(value, dict) else value)
        return web.json_response({"status": "success", "events": count})

    return [web.post("/input", post)]


async def carry_out(machine: Machine, value: Any) -> int:
    """Validates a list of JSON events, performs them, returns their number.

    Raises:
        GuestError: one is invalid (then none was performed), or the display server does not accept them.
    """
    events = read_events(value, machine.limits)
    machine.input.check(events)
    seconds = machine.limits.input_seconds + _duration(events)
    await machine.within(seconds, machine.input.perform, events)
    return len(value)


def _duration(events: Sequence[Event]) -> float:
    """Minimum duration of the events themselves."""
    seconds = 0.0
    for event in events:
        if isinstance(event, Move | Drag):
            seconds += 2 * event.duration
        elif isinstance(event, Type):
            seconds += len(event.text) * _SECONDS_PER_CHARACTER
        elif isinstance(event, Hotkey):
            seconds += event.times * _SECONDS_PER_CHARACTER
    return seconds
