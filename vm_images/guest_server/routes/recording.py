"""Records the screen as a video: /start_recording and /end_recording."""

import asyncio
import contextlib
import os
import signal
import tempfile
from pathlib import Path

from aiohttp import web

from guest_server.environment import NO_WINDOW
from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import Machine
from guest_server.routes.files import message_response, send_file

_END_SECONDS = 20.0


def routes(machine: Machine) -> list[web.RouteDef]:
    """POST /start_recording, POST /end_recording."""
    recorder = _Recorder(machine)

    async def start(_: web.Request) -> web.Response:
        await recorder.start()
        return message_response("recording started")

    async def end(request: web.Request) -> web.StreamResponse:
        path = await recorder.end()
        try:
            return await send_file(request, path, machine.limits.file)
        finally:
            path.unlink(missing_ok=True)

    return [web.post("/start_recording", start), web.post("/end_recording", end)]


class _Recorder:
    """At most one recording at a time."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._process: asyncio.subprocess.Process | None = None
        self._path = Path()
        self._farewell = b""

    async def start(self) -> None:
        if self._process is not None and self._process.returncode is None:
            raise GuestError("conflict", "a recording is running; end it first")
        descriptor, name = tempfile.mkstemp(prefix="recording-", suffix=".mp4")
        os.close(descriptor)
        self._path = Path(name)
        spec = self._machine.shell.recorder(self._path)
        self._farewell = spec.farewell
        self._process = await asyncio.create_subprocess_exec(
            *spec.argv,
            stdin=asyncio.subprocess.PIPE if spec.farewell else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env=dict(self._machine.environment),
            start_new_session=True,
            creationflags=NO_WINDOW,
        )

    async def end(self) -> Path:
        process, self._process = self._process, None
        if process is None:
            raise GuestError("conflict", "no recording is running")
        self._say_end(process)
        try:
            async with asyncio.timeout(_END_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
            raise GuestError("failed", f"the recorder did not end within {_END_SECONDS:g} s") from None
        if not self._path.stat().st_size:
            raise GuestError("failed", "the recorder ended without a picture")
        return self._path

    def _say_end(self, process: asyncio.subprocess.Process) -> None:
        """Lets it finish the file."""
        with contextlib.suppress(ProcessLookupError, ConnectionError):
            if process.stdin is None:
                process.send_signal(signal.SIGINT)
            else:
                process.stdin.write(self._farewell)
                process.stdin.close()
