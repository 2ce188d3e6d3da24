"""Accessibility tree, gathered in a helper process of the platform (`<platform>/a11y_helper.py`).

A hanging application or a crash in the accessibility library affects that process, never the server.
"""

import asyncio
import contextlib
import json
import sys
from collections.abc import Mapping
from typing import Any

from guest_server.environment import NO_WINDOW
from guest_server.protocol.errors import GuestError
from guest_server.protocol.limits import GuestLimits
from guest_server.protocol.machine import Tree, TreeRequest

# The helper ends its walk at its deadline; this limit is for a single call in which it may hang.
_GRACE_SECONDS = 10.0
_START_SECONDS = 15.0


class AccessibilityProcess:
    """Keeps one helper process and replaces it when it hangs or dies."""

    def __init__(self, helper: str, environment: Mapping[str, str], limits: GuestLimits) -> None:
        """Does not start yet.

        Args:
            helper: module that answers requests on stdin, one JSON object per line.
            environment: its environment.
            limits: of the session.
        """
        self._module = helper
        self._environment = dict(environment)
        self._limits = limits
        self._helper: asyncio.subprocess.Process | None = None
        self._one_at_a_time = asyncio.Lock()

    async def tree(self, options: TreeRequest) -> Tree:
        """The whole desktop's tree, truncated at the limits."""
        answer = await self._ask({"what": "tree", **vars(options)}, options.seconds)
        return Tree(answer["xml"], answer["nodes"], answer["cut"])

    async def terminal(self) -> str | None:
        """The active terminal's text."""
        answer = await self._ask({"what": "terminal"}, self._limits.blocking_seconds)
        text = answer["text"]
        return None if text is None else str(text)

    async def text_cursor(self) -> dict[str, str]:
        """The text at the cursor."""
        return await self._ask({"what": "cursor"}, self._limits.blocking_seconds)

    async def start(self) -> None:
        """Starts the helper early, so that the first request finds it ready."""
        async with self._one_at_a_time:
            await self._running()

    async def stop(self) -> None:
        if self._helper is not None:
            await _end(self._helper)
            self._helper = None

    async def _running(self) -> asyncio.subprocess.Process:
        if self._helper is not None and self._helper.returncode is None:
            return self._helper
        self._helper = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            self._module,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=self._environment,
            limit=256 * 2**20,
            start_new_session=True,
            creationflags=NO_WINDOW,
        )
        return self._helper

    async def _ask(self, question: dict[str, Any], seconds: float) -> dict[str, Any]:
        async with self._one_at_a_time:
            # A helper that died is replaced and asked once more: an application may crash it each time.
            line = await self._answer(question, seconds) or await self._answer(question, seconds)
        if not line:
            raise GuestError("failed", "the accessibility library crashed twice; an application confuses it")
        answer: dict[str, Any] = json.loads(line)
        if "problem" in answer:
            raise GuestError("not_available", answer["problem"])
        return answer

    async def _answer(self, question: dict[str, Any], seconds: float) -> bytes:
        """The helper's line; empty if it died."""
        helper = await self._running()
        try:
            async with asyncio.timeout(seconds + _GRACE_SECONDS):
                line = await _exchange(helper, question)
        except TimeoutError:
            await self.stop()
            message = f"an application did not answer within {seconds + _GRACE_SECONDS:g} s"
            raise GuestError("timeout", f"{message}; ask again, or end the application that hangs") from None
        except (ConnectionError, ValueError):
            line = b""
        if not line:
            await self.stop()
        return line


async def _exchange(helper: asyncio.subprocess.Process, question: dict[str, Any]) -> bytes:
    if helper.stdin is None or helper.stdout is None:
        raise ConnectionError("the helper has no pipes")
    helper.stdin.write(json.dumps(question).encode() + b"\n")
    await helper.stdin.drain()
    return await helper.stdout.readline()


async def _end(helper: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        helper.kill()
    async with asyncio.timeout(_START_SECONDS):
        await helper.wait()
