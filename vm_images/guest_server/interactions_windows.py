"""The log of interactions on Windows: low-level hooks for what is done, UI Automation for the control that it met.

Not run by our tests: they have no Windows. What does not depend on it is tested (`interaction_log.py`,
`symbols_windows.py`).
"""

import asyncio
import ctypes
from typing import Any

from .errors import GuestError
from .hooks_windows import Hooks
from .interaction_log import Found, Log, key_words
from .symbols_windows import pressed

_READ_SECONDS = 8.0
_LONGEST_TITLE = 1024


class WindowsInteractions:
    """The log begins with the first question; until then no hook is set."""

    def __init__(self) -> None:
        self._hooks: Hooks | None = None
        self._automation: Any = None
        self._log = Log(self._focused)

    async def told(self, since: int) -> list[dict[str, Any]]:
        """The entries after that number."""
        return await asyncio.get_running_loop().run_in_executor(None, self._told, since)

    async def stop(self) -> None:
        """The hooks end with the process."""

    def _told(self, since: int) -> list[dict[str, Any]]:
        if self._hooks is None:
            hooks = Hooks(self._clicked, self._typed)
            if not hooks.start():
                raise GuestError("not_available", "Windows does not let this process listen to mouse and keyboard")
            self._hooks = hooks
        found: list[dict[str, Any]] = []
        if not self._hooks.run(lambda: found.extend(self._log.told(since)), _READ_SECONDS):
            raise GuestError("failed", "the log of interactions has broken off: an application does not answer")
        return found

    def _clicked(self, button: str, x: int, y: int) -> None:
        self._log.click(button, x, y, self._asked("ElementFromPoint", x, y))

    def _typed(self, key: int, text: str, held: frozenset[str]) -> None:
        meant = pressed(key, text, held)
        if meant.text:
            self._log.character(meant.text)
        elif meant.name:
            self._log.key(key_words(meant.name, meant.held))

    def _focused(self) -> Found:
        return self._asked("GetFocusedElement")

    def _asked(self, question: str, *point: int) -> Found:
        """A control of UI Automation in words. Asked in the working thread only."""
        from comtypes import COMError  # type: ignore[import-not-found]

        window = _active_title()
        try:
            automation = self._connected()
            where = (self._point(*point),) if point else ()
            element = getattr(automation, question)(*where)
            box = element.CurrentBoundingRectangle
            rect = (box.left, box.top, box.right - box.left, box.bottom - box.top)
            role = str(element.CurrentLocalizedControlType or "")
            return Found(control=str(element.CurrentName or "").strip(), role=role, rect=rect, window=window)
        except (COMError, OSError, ValueError):
            return Found(window=window)  # It has gone meanwhile, or its program does not answer.

    def _connected(self) -> Any:
        """UI Automation; made in the thread that asks it."""
        if self._automation is None:
            from comtypes import client

            module = client.GetModule("UIAutomationCore.dll")
            self._module = module
            self._automation = client.CreateObject(module.CUIAutomation, interface=module.IUIAutomation)
        return self._automation

    def _point(self, x: int, y: int) -> Any:
        return self._module.tagPOINT(x, y)


def _active_title() -> str:
    user: Any = vars(ctypes)["WinDLL"]("user32")
    buffer = ctypes.create_unicode_buffer(_LONGEST_TITLE)
    user.GetWindowTextW(user.GetForegroundWindow(), buffer, _LONGEST_TITLE)
    return buffer.value
