"""Fetches a file into the desktop: /setup/download_file. Only through the egress proxy, if there is one."""

import asyncio
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from aiohttp import ClientError, ClientSession, ClientTimeout, web

from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import Machine
from guest_server.protocol.params import json_params
from guest_server.routes.files import put_in_place

_TRIES = 3
_SECONDS = 300.0
_PIECE = 2**18


def routes(machine: Machine) -> list[web.RouteDef]:
    """POST /setup/download_file."""

    async def download(request: web.Request) -> web.Response:
        params = await json_params(request)
        url, path = params.text("url", longest=8192), Path(params.path("path"))
        if not machine.egress_proxy:
            message = "this desktop has no way to the network; let the service download the file and upload it"
            raise GuestError("not_available", message)
        if urlsplit(url).scheme not in {"http", "https"}:
            raise GuestError("bad_request", "'url' must begin with http:// or https://")
        size = await _with_tries(machine, url, path)
        return web.Response(text=f"File downloaded: {size} bytes")

    return [web.post("/setup/download_file", download)]


async def _with_tries(machine: Machine, url: str, path: Path) -> int:
    problem = ""
    for _ in range(_TRIES):
        try:
            return await _fetch(machine, url, path)
        except (TimeoutError, ClientError) as error:
            problem = str(error) or type(error).__name__
    raise GuestError("refused", f"'{url}' could not be downloaded in {_TRIES} tries: {problem}")


async def _fetch(machine: Machine, url: str, path: Path) -> int:
    descriptor, name = await asyncio.to_thread(tempfile.mkstemp, prefix=".download-", dir=machine.home)
    temporary = Path(name)
    try:
        with open(descriptor, "wb") as file:  # noqa: ASYNC230, PTH123 - a descriptor of a local file.
            size = 0
            async with (
                ClientSession(timeout=ClientTimeout(total=_SECONDS)) as session,
                session.get(url, proxy=machine.egress_proxy, raise_for_status=True) as response,
            ):
                async for data in response.content.iter_chunked(_PIECE):
                    size += len(data)
                    if size > machine.limits.upload:
                        raise GuestError("too_large", f"'{url}' has more than {machine.limits.upload} bytes")
                    await asyncio.to_thread(file.write, data)
        await asyncio.to_thread(put_in_place, temporary, path)
    finally:
        await asyncio.to_thread(temporary.unlink, missing_ok=True)
    return size
