"""The desktop's own end of its way out: a port on its loopback whose every connection is led to a unix socket.

Programs know proxies by host and port; the gateway outside can only be reached by a socket's path. What may be asked is
decided there, so this end just carries bytes.
"""

import asyncio
import contextlib
import logging
from urllib.parse import urlsplit

from .machine import Machine

_PIECE = 65_536
_log = logging.getLogger("guest_server")


async def start_relay(machine: Machine) -> "asyncio.AbstractServer | None":
    """Listens where `machine.egress_proxy` says; None if this desktop has no such socket, or the port is taken."""
    if not machine.egress_socket:
        return None
    place = urlsplit(machine.egress_proxy)

    async def lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # The gateway is away before the attempt begins: whoever asks then is told by an end of the connection.
        with contextlib.suppress(OSError):
            out, way = await asyncio.open_unix_connection(machine.egress_socket)
            try:
                await asyncio.gather(_carry(reader, way), _carry(out, writer))
            finally:
                way.close()
        writer.close()

    try:
        return await asyncio.start_server(lead, place.hostname, place.port)
    except OSError as error:
        _log.warning("there is no way out: %s", error)
        return None


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(_PIECE):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.close()
