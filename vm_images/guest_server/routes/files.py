"""Reads and writes single files: /file, /setup/upload, /setup/create_file, /setup/recycle, /file_exists."""

import asyncio
import contextlib
import io
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from aiohttp import BodyPartReader, http_exceptions, web

from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import Machine
from guest_server.protocol.params import RequestParams, form_params, json_params

_PIECE = 2**18
AT_ONCE = 16 * 2**20
# Exceptions of aiohttp's reader for a truncated form.
_BROKEN_FORM = (ValueError, AssertionError, http_exceptions.HttpProcessingError, EOFError)


def routes(machine: Machine) -> list[web.RouteDef]:
    """POST /file, /setup/upload, /setup/create_file, /setup/recycle, /file_exists."""

    async def read(request: web.Request) -> web.StreamResponse:
        path = Path((await form_params(request)).path("file_path"))
        return await send_file(request, path, machine.limits.file)

    async def upload(request: web.Request) -> web.Response:
        size = await _receive(request, machine)
        return web.Response(text=f"File Uploaded: {size} bytes")

    async def create(request: web.Request) -> web.Response:
        params = await json_params(request)
        path, content = Path(params.path("path")), params.text("content", "")
        await asyncio.to_thread(_write_text, path, content)
        return message_response(f"file '{path}' created")

    async def recycle(request: web.Request) -> web.Response:
        path = Path((await json_params(request)).path("path"))
        await asyncio.to_thread(machine.shell.recycle, path)
        return message_response(f"'{path}' moved to the recycle bin")

    async def exists(request: web.Request) -> web.Response:
        params = await json_params(request)
        return existence(_child(params, "file_name"), Path.is_file)

    return [
        web.post("/file", read),
        web.post("/setup/upload", upload),
        web.post("/setup/create_file", create),
        web.post("/setup/recycle", recycle),
        web.post("/file_exists", exists),
    ]


def message_response(message: str) -> web.Response:
    """Reply of a route without data."""
    return web.json_response({"status": "success", "message": message})


def existence(path: Path, test: Callable[[Path], bool]) -> web.Response:
    """200 if it exists, 400 if not, as WAA's tasks expect."""
    exists = test(path)
    status = "success" if exists else "error"
    message = f"'{path}' exists" if exists else f"'{path}' does not exist"
    body = {"status": status, "message": message} | ({} if exists else {"error": "not_found"})
    return web.json_response(body, status=200 if exists else 400)


def _child(params: RequestParams, name: str) -> Path:
    return Path(params.path("path"), params.text(name, longest=255))


def _write_text(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def open_regular(path: Path, limit: int) -> tuple[IO[bytes], int]:
    """Opens a file for reading; a pipe or device would hang or never end."""
    file = os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb")
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode):
        file.close()
        raise GuestError("bad_request", f"'{path}' is not a regular file")
    if status.st_size > limit:
        file.close()
        raise GuestError("too_large", f"'{path}' has {status.st_size} bytes, the limit is {limit}")
    return file, status.st_size


async def send_file(request: web.Request, path: Path, limit: int) -> web.StreamResponse:
    """Sends a file as it is now.

    A program may write it meanwhile: up to `AT_ONCE` bytes are read before the reply starts. A longer file that
    becomes shorter breaks the connection, as its length is announced.
    """
    file, remaining = await asyncio.to_thread(open_regular, path, limit)
    with contextlib.closing(file):
        source: IO[bytes] = file
        if remaining <= AT_ONCE:
            content = await asyncio.to_thread(file.read, remaining)
            source, remaining = io.BytesIO(content), len(content)
        response = web.StreamResponse(headers={"Content-Type": "application/octet-stream"})
        response.content_length = remaining
        await response.prepare(request)
        while remaining:
            data = await asyncio.to_thread(source.read, min(remaining, _PIECE))
            if not data:
                if request.transport is not None:
                    request.transport.abort()  # Anything else that is sent would be taken for the file's content.
                raise ConnectionAbortedError(f"'{path}' became shorter while it was sent")
            await response.write(data)
            remaining -= len(data)
        await response.write_eof()
    return response


async def _receive(request: web.Request, machine: Machine) -> int:
    """Takes a multipart form of `file_path` and `file_data` in either order; returns the size."""
    if not request.content_type.startswith("multipart/"):
        raise GuestError("bad_request", "an upload is a multipart form of 'file_path' and 'file_data'")
    fields: dict[str, str] = {}
    temporary: Path | None = None
    size = 0
    try:
        async for part in await request.multipart():
            if not isinstance(part, BodyPartReader):
                continue
            if part.name == "file_data" and temporary is None:
                temporary, size = await _store(part, machine)
            elif part.name == "file_path":
                fields["file_path"] = await _short_text(part)
        await asyncio.to_thread(_move, temporary, RequestParams(fields))
    except _BROKEN_FORM as error:
        raise GuestError("bad_request", f"the form is broken: {error or type(error).__name__}") from None
    finally:
        await asyncio.to_thread(_remove, temporary)
    return size


def _remove(temporary: Path | None) -> None:
    if temporary is not None:
        temporary.unlink(missing_ok=True)


async def _short_text(part: BodyPartReader) -> str:
    data = await part.read_chunk(_PIECE)
    return data.decode("utf-8", "surrogateescape")


async def _store(part: BodyPartReader, machine: Machine) -> tuple[Path, int]:
    """Writes a part to a temporary file in the home, so that moving it is cheap."""
    descriptor, name = await asyncio.to_thread(tempfile.mkstemp, prefix=".upload-", dir=machine.home)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            size = await _copy(part, file, machine.limits.upload)
    except BaseException:
        await asyncio.to_thread(_remove, temporary)
        raise
    return temporary, size


async def _copy(part: BodyPartReader, file: IO[bytes], limit: int) -> int:
    size = 0
    while data := await part.read_chunk(_PIECE):
        size += len(data)
        if size > limit:
            raise GuestError("too_large", f"the file has more than {limit} bytes")
        await asyncio.to_thread(file.write, data)
    return size


def _move(temporary: Path | None, fields: RequestParams) -> None:
    if temporary is None:
        raise GuestError("bad_request", "the form has no 'file_data'")
    put_in_place(temporary, Path(fields.path("file_path")))


def put_in_place(temporary: Path, target: Path) -> None:
    """Moves a temporary file to its place, creating folders."""
    import shutil

    if target.is_dir():
        raise GuestError("bad_request", f"'{target}' is a folder")
    target.parent.mkdir(parents=True, exist_ok=True)
    # Mode of an ordinary new file: temporary files are private.
    temporary.chmod(0o644)
    shutil.move(temporary, target)
