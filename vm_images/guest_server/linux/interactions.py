"""Server side of the interaction log: starts its helper and queries it."""

import asyncio
import contextlib
import json
import sys
from collections.abc import Mapping
from typing import Any

from guest_server.protocol.errors import GuestError

_HELPER = "guest_server.linux.interactions_helper"
_START_SECONDS, _READ_SECONDS = 10.0, 8.0
_LONGEST_LINE = 2**24


class XInteractions:
    """Interaction log of an X11 desktop. It starts with the first request; until then it costs nothing."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._helper: asyncio.subprocess.Process | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._one_at_a_time = asyncio.Lock()
        self._broken = ""

    async def entries(self, since: int) -> list[dict[str, Any]]:
        """Entries after that number."""
        async with self._one_at_a_time:
            if self._helper is None:
                await self._begin()
            answer = await self._ask({"what": "read", "since": since}, _READ_SECONDS)
        entries: list[dict[str, Any]] = answer["interactions"]
        return entries

    def before_press(self, x: int, y: int) -> None:
        """Lets the log inspect the target of a press before it changes: a menu closes when its item is clicked.

        For the threads that perform input. Returns at once without a log, and soon if an application does not respond:
        the press is then inspected when it is received.
        """
        if self._loop is None or self._broken:
            return
        future = asyncio.run_coroutine_threadsafe(self._look_up(x, y), self._loop)
        with contextlib.suppress(GuestError):
            future.result()

    async def stop(self) -> None:
        if self._helper is not None and self._helper.returncode is None:
            self._helper.kill()
            await self._helper.wait()

    async def _look_up(self, x: int, y: int) -> None:
        async with self._one_at_a_time:
            await self._ask({"what": "look", "x": x, "y": y}, _READ_SECONDS)

    async def _begin(self) -> None:
        self._helper = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            _HELPER,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=self._environment,
            limit=_LONGEST_LINE,
            start_new_session=True,
        )
        await self._ask(None, _START_SECONDS)
        self._loop = asyncio.get_running_loop()

    async def _ask(self, question: Mapping[str, Any] | None, seconds: float) -> dict[str, Any]:
        """The helper's answer. A log with a gap is useless: once it fails, it stays failed."""
        if self._broken:
            raise GuestError("failed", self._broken)
        try:
            async with asyncio.timeout(seconds):
                line = await self._line(question)
        except (TimeoutError, ConnectionError, ValueError):
            line = b""
        if not line:
            self._broken = "the log of interactions has broken off: its helper died, or an application confuses it"
            await self.stop()
            raise GuestError("failed", self._broken)
        answer: dict[str, Any] = json.loads(line)
        if "problem" in answer:
            self._broken = answer["problem"]
            raise GuestError("not_available", self._broken)
        return answer

    async def _line(self, question: Mapping[str, Any] | None) -> bytes:
        helper = self._helper
        if helper is None or helper.stdin is None or helper.stdout is None:
            raise ConnectionError("the helper has no pipes")
        if question is not None:
            helper.stdin.write(json.dumps(question).encode() + b"\n")
            await helper.stdin.drain()
        return await helper.stdout.readline()
