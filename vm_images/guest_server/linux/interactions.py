"""The server's side of the log of interactions: starts the helper that keeps it, and asks it."""

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
    """The log of an X11 desktop. It begins with the first question; until then it costs nothing."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._helper: asyncio.subprocess.Process | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._one_at_a_time = asyncio.Lock()
        self._broken = ""

    async def told(self, since: int) -> list[dict[str, Any]]:
        """The entries after that number."""
        async with self._one_at_a_time:
            if self._helper is None:
                await self._begin()
            answer = await self._ask({"what": "read", "since": since}, _READ_SECONDS)
        entries: list[dict[str, Any]] = answer["interactions"]
        return entries

    def before_press(self, x: int, y: int) -> None:
        """Has the log look at what will be pressed, while it is still there: a menu closes when its item is taken.

        For the threads that carry out input. Returns at once where no log is kept, and soon where an application does
        not answer: the press is then looked at when it is heard.
        """
        if self._loop is None or self._broken:
            return
        future = asyncio.run_coroutine_threadsafe(self._look_up(x, y), self._loop)
        with contextlib.suppress(GuestError):
            future.result()

    async def stop(self) -> None:
        """Ends the helper."""
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
        """The helper's answer. A log that has a gap is no log: once it breaks off, it stays so."""
        if self._broken:
            raise GuestError("failed", self._broken)
        try:
            line = await asyncio.wait_for(self._line(question), seconds)
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
