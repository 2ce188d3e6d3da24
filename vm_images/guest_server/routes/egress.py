"""The desktop's own end of its egress: a loopback port whose connections are relayed to the gateway.

Programs know proxies by host and port. The gateway outside is reached through a socket (in a sandbox on the worker's
machine) or through tunnels that the worker keeps open (in a virtual machine). The gateway decides what is allowed; this
end only relays bytes.
"""

import asyncio
import logging
from urllib.parse import urlsplit

from aiohttp import web

from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import Machine
from guest_server.socket_relay import Lead, leading

_log = logging.getLogger("guest_server")


def routes(machine: Machine) -> list[web.RouteDef]:
    """GET /egress (websocket)."""

    async def egress(request: web.Request) -> web.StreamResponse:
        if machine.lines is None:
            raise GuestError("not_available", "this desktop has another way out, or none")
        return await machine.lines.serve(request)

    return [web.get("/egress", egress)]


async def start_relay(machine: Machine) -> "asyncio.AbstractServer | None":
    """Listens at `machine.egress_proxy`; None if this desktop has no gateway, or the port is in use."""
    lead = _by_socket(machine.egress_socket) if machine.egress_socket else machine.lines and machine.lines.lead
    if not lead:
        return None
    proxy = urlsplit(machine.egress_proxy)
    try:
        return await asyncio.start_server(lead, proxy.hostname, proxy.port)
    except OSError as error:
        _log.warning("no egress: %s", error)
        return None


def _by_socket(path: str) -> Lead:
    # There is no gateway before the attempt starts: connections are closed until then.
    return leading(lambda: asyncio.open_unix_connection(path))
