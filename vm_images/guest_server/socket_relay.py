"""Leads connections on: what comes in on one socket goes out on another, byte by byte, both ways."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

_PIECE = 65_536
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Lead = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
"""What a server does with a connection."""


def leading(onward: Callable[[], Awaitable[Streams]]) -> Lead:
    """What a server does with a connection: opens one onward and carries bytes until both sides have ended.

    Args:
        onward: opens it; where that fails with OSError, whoever asks is told by the end of the connection.
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
