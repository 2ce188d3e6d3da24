"""Relays connections from one socket to another, byte by byte, in both directions."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

_PIECE = 65_536
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Lead = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
"""A server's function for one connection."""


def leading(onward: Callable[[], Awaitable[Streams]]) -> Lead:
    """Handler of a server's connections: opens one onward and relays until both sides have ended.

    Args:
        onward: opens it; on OSError the incoming connection is closed.
    """

    async def lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            back, forth = await onward()
            try:
                await asyncio.gather(_carry(reader, forth), _carry(back, writer))
            finally:
                forth.close()
        writer.close()

    return lead


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(_PIECE):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.close()
