import asyncio
from pathlib import Path

from guest_server.socket_relay import Streams, leading


class TestLeading:
    def test_carries_bytes_both_ways_and_the_ends_too(self, tmp_path: Path) -> None:
        async def talk() -> bytes:
            async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                writer.write((await reader.read()).upper())
                writer.close()

            async def onward() -> Streams:
                return await asyncio.open_unix_connection(tmp_path / "inner")

            async with (
                await asyncio.start_unix_server(shout, tmp_path / "inner"),
                await asyncio.start_unix_server(leading(onward), tmp_path / "outer"),
            ):
                reader, writer = await asyncio.open_unix_connection(tmp_path / "outer")
                writer.write(b"hello " * 50_000)
                writer.write_eof()
                heard = await reader.read()
                writer.close()
                return heard

        assert asyncio.run(asyncio.wait_for(talk(), 20.0)) == b"HELLO " * 50_000

    def test_connection_ends_without_a_listener(self, tmp_path: Path) -> None:
        async def talk() -> bytes:
            async def onward() -> Streams:
                return await asyncio.open_unix_connection(tmp_path / "nobody")

            async with await asyncio.start_unix_server(leading(onward), tmp_path / "outer"):
                reader, writer = await asyncio.open_unix_connection(tmp_path / "outer")
                heard = await reader.read()
                writer.close()
                return heard

        assert asyncio.run(asyncio.wait_for(talk(), 20.0)) == b""
