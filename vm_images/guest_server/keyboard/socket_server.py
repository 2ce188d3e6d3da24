"""Keyboard of the session for programs of the desktop, at a socket in the session's runtime folder.

It has no secret: these programs may press any key anyway. Each request is a line, a JSON list of events of `/input`
(`type`, `key_down`, `key_up`); so is each response, `{}` or `{"error": kind, "message": text}`.
"""

import asyncio
import json
import logging
from collections.abc import Mapping
from typing import Any

from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import Machine
from guest_server.routes.mouse_and_keyboard import carry_out

_EVENTS = frozenset({"type", "key_down", "key_up"})
_LONGEST_LINE = 2**20
_log = logging.getLogger("guest_server")


async def serve_keyboard(machine: Machine) -> "asyncio.AbstractServer | None":
    """Listens at `machine.keyboard_socket` until it is closed; None if the desktop has none, or it cannot be made."""
    if machine.keyboard_socket is None:
        return None

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                writer.write(json.dumps(await _answer(machine, line)).encode() + b"\n")
                await writer.drain()
        except (ConnectionError, ValueError):
            return  # The program has ended, or sent a line that is too long.
        finally:
            writer.close()

    try:
        return await asyncio.start_unix_server(converse, machine.keyboard_socket, limit=_LONGEST_LINE)
    except OSError as error:
        _log.warning("agents' code types by itself: %s", error)
        return None


async def _answer(machine: Machine, line: bytes) -> Mapping[str, Any]:
    try:
        await carry_out(machine, _events(line))
    except GuestError as error:
        return {"error": error.kind, "message": error.message}
    except (ValueError, RecursionError) as error:
        return {"error": "bad_request", "message": f"not JSON: {error}"}
    return {}


def _events(line: bytes) -> list[Any]:
    events = json.loads(line)
    if not isinstance(events, list) or not all(map(_is_of_keyboard, events)):
        raise GuestError("bad_request", f"expected a list of events of {', '.join(sorted(_EVENTS))}")
    return events


def _is_of_keyboard(event: Any) -> bool:
    return isinstance(event, dict) and str(event.get("type")) in _EVENTS
