"""Interaction log on Windows: low-level hooks, and the control under each event."""

import asyncio
from typing import Any

from guest_server.protocol.errors import GuestError
from guest_server.protocol.interaction_log import InteractionLog, InteractionTarget, key_words
from guest_server.windows.controls import Controls, controls
from guest_server.windows.input_hooks import Hooks
from guest_server.windows.key_symbols import pressed

_READ_SECONDS = 8.0


class WindowsInteractions:
    """The log starts with the first request; until then no hook is set."""

    def __init__(self) -> None:
        self._hooks: Hooks | None = None
        self._controls: Controls | None = None
        self._log = InteractionLog(self._focused_target)

    async def entries(self, since: int) -> list[dict[str, Any]]:
        """Entries after that number."""
        return await asyncio.get_running_loop().run_in_executor(None, self._entries_since, since)

    async def stop(self) -> None:
        """The hooks end with the process."""

    def _entries_since(self, since: int) -> list[dict[str, Any]]:
        if self._hooks is None:
            hooks = Hooks(self._log_click, self._log_key)
            if not hooks.start():
                raise GuestError("not_available", "Windows does not let this process listen to mouse and keyboard")
            self._hooks = hooks
        entries: list[dict[str, Any]] = []
        if not self._hooks.run(lambda: entries.extend(self._log.entries(since)), _READ_SECONDS):
            raise GuestError("failed", "the log of interactions has broken off: an application does not answer")
        return entries

    def _log_click(self, button: str, x: int, y: int) -> None:
        self._log.click(button, x, y, self._controls_reader().at(x, y))

    def _log_key(self, key: int, text: str, modifiers: frozenset[str]) -> None:
        meant = pressed(key, text, modifiers)
        if meant.text:
            self._log.character(meant.text)
        elif meant.name:
            self._log.key(key_words(meant.name, meant.modifiers))

    def _focused_target(self) -> InteractionTarget:
        return self._controls_reader().focused()

    def _controls_reader(self) -> Controls:
        """Created in the working thread, which is the one that uses it."""
        if self._controls is None:
            self._controls = controls()
        return self._controls
