"""WindowsAgentArena's `computer` library for agents' code on the desktop (docs/internals/actions.md).

Names, arguments, amounts and the pause after each input are WAA's. It runs in the agent's own process: mouse and
keyboard use pyautogui, everything else a `Shell` of the platform. What cannot be done raises, so the code ends there
and its output has the reason.
"""
# ruff: noqa: A002 - `id` and `dir` are the API's own names.

import difflib
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import pyautogui

from guest_server.keyboard.pyautogui_keys import types_unicode
from guest_server.protocol.machine import Box, WindowInfo

_PAUSE = 0.25
"""Seconds after each input, so that programs handle it before the next."""
_WHEEL = 400 if os.name == "nt" else 3  # Windows counts 120 a wheel click.
_DRAG_SECONDS = 0.25
_WINDOW_SECONDS = 10.0
_LOOK_SECONDS = 0.05


class Shell(Protocol):
    """Platform-specific operations."""

    def clipboard(self) -> str:
        """The clipboard's text, empty if it has none."""
        ...

    def copy(self, text: str) -> None:
        """Puts a text on the clipboard, which outlives this process."""
        ...

    def copy_picture(self, box: Box) -> None:
        """Puts that part of the screen on the clipboard, which outlives this process."""
        ...

    def windows(self) -> Sequence[WindowInfo]:
        """The application windows, bottom to top."""
        ...

    def show(self, window: WindowInfo) -> None:
        """Raises, focuses and maximises a window, and waits until it has the focus."""
        ...

    def find_program(self, name: str) -> Sequence[str]:
        """The command of a program by its name, empty if it is not installed."""
        ...

    def start(self, command: Sequence[str]) -> None:
        """Starts a program that outlives this process."""
        ...


class Mouse:
    """The pointer."""

    def __init__(self, boxes: Mapping[int, Box], area: Sequence[int] | None = None) -> None:
        self._boxes, self._area = boxes, area
        self.current_id: int | None = None

    def move_id(self, id: int) -> None:
        """Moves to the middle of a numbered element."""
        left, top, right, bottom = _box(self._boxes, id)
        pyautogui.moveTo((left + right) // 2, (top + bottom) // 2)
        self.current_id = int(id)

    def move_abs(self, x: float, y: float) -> None:
        """Moves to a fraction, 0 to 1, of the width and height of the agent's view."""
        pyautogui.moveTo(*_shares(x, y, self._area))

    def single_click(self) -> None:
        """Clicks the left button at the pointer."""
        pyautogui.click()

    def double_click(self) -> None:
        """Double-clicks the left button at the pointer."""
        pyautogui.doubleClick()

    def right_click(self) -> None:
        """Clicks the right button at the pointer."""
        pyautogui.rightClick()

    def scroll(self, dir: str = "down") -> None:
        """Scrolls `up` or `down`."""
        if dir not in {"up", "down"}:
            raise ValueError(f"direction must be 'up' or 'down', not {dir!r}")
        pyautogui.scroll(_WHEEL if dir == "up" else -_WHEEL)

    def drag(
        self,
        x: float | None = None,
        y: float | None = None,
        *,
        screen_x: float | None = None,
        screen_y: float | None = None,
    ) -> None:
        """Drags with the left button from the pointer: to fractions as in `move_abs`, or to named pixels."""
        if screen_x is not None and screen_y is not None:
            x, y = screen_x, screen_y
        elif x is None or y is None:
            raise TypeError("drag needs x and y, or screen_x and screen_y")
        elif 0 <= x <= 1 and 0 <= y <= 1:
            x, y = _shares(x, y, self._area)
        pyautogui.dragTo(int(x), int(y), duration=_DRAG_SECONDS, button="left")


class Keyboard:
    """The keyboard."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    def write(self, text: str) -> None:
        """Types text. Without the session's keyboard (`pyautogui_keys`), pastes what pyautogui cannot type."""
        if text.isascii() or types_unicode(pyautogui):
            pyautogui.write(text)
        else:
            self._shell.copy(text)
            pyautogui.hotkey("ctrl", "v")

    def press(self, key: str) -> None:
        """Presses a key, or several as `ctrl+c`."""
        separator = "+" if "+" in key else "-"
        keys = [part.strip() for part in key.split(separator)] if len(key) > 1 and separator in key else [key]
        unknown = [name for name in keys if name.lower() not in pyautogui.KEYBOARD_KEYS]
        if unknown:
            raise ValueError(f"there is no key {unknown[0]!r}")
        pyautogui.hotkey(*(name.lower() for name in keys) if len(keys) > 1 else keys)


class Clipboard:
    """The clipboard."""

    def __init__(self, boxes: Mapping[int, Box], shell: Shell) -> None:
        self._boxes = boxes
        self._shell = shell

    def view_clipboard(self) -> str:
        return self._shell.clipboard()

    def copy_text(self, text: str | None = None) -> None:
        """Copies the text; without one, the word under the pointer."""
        if text is None:
            pyautogui.doubleClick()
            pyautogui.hotkey("ctrl", "c")
        else:
            self._shell.copy(text)

    def copy_image(self, id: int, description: str = "") -> None:  # noqa: ARG002 - words for the agent itself.
        """Copies the picture of a numbered element as it is on the screen."""
        self._shell.copy_picture(_box(self._boxes, id))

    def paste(self) -> None:
        """Pastes with Ctrl+V."""
        pyautogui.hotkey("ctrl", "v")


class OS:
    """Programs and the active window."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    def is_installed(self, program: str) -> bool:
        """Whether `open_program` would find it."""
        return bool(self._shell.find_program(program))

    def open_program(self, program: str) -> None:
        """Starts a program and shows its window over the whole screen."""
        command = self._shell.find_program(program)
        if not command:
            raise LookupError(f"program {program!r} is not installed")
        before = {window.id for window in self._shell.windows()}
        self._shell.start(command)
        window = _wait_for(lambda: _newest(self._shell.windows(), before))
        if window is None:
            print(f"{program} has opened no new window within {_WINDOW_SECONDS:g} s")
            return
        self._shell.show(window)

    def maximize_window(self, window: str | None = None) -> None:
        """Shows the window of that title, or the active one, over the whole screen."""
        windows = self._shell.windows()
        target = closest(windows, window) if window else next((window for window in windows if window.active), None)
        if target is None:
            raise LookupError(f"no window {window!r}" if window else "no window is active")
        self._shell.show(target)


class WindowManager:
    """The open windows."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    def find_open_applications(self) -> list[str]:
        """The titles of all windows."""
        return list(dict.fromkeys(window.title for window in self._shell.windows() if window.title))

    def switch_to_application(self, app_name: str) -> None:
        """Shows the window whose title is most like the name."""
        window = closest(self._shell.windows(), app_name)
        if window is None:
            titles = ", ".join(map(repr, self.find_open_applications()[:20])) or "none"
            raise LookupError(f"no window is called like {app_name!r}; open windows: {titles}")
        self._shell.show(window)

    switch_to_app = switch_to_application


class Computer:
    """All parts together. `import computer` returns the latest instance.

    Args:
        rects: the numbered elements' boxes in screen pixels.
        area: the agent's view of the screen: left, top, right, bottom; None = the whole screen.
    """

    def __init__(self, rects: Mapping[int, Box] | None = None, area: Sequence[int] | None = None) -> None:
        pyautogui.FAILSAFE, pyautogui.PAUSE = False, _PAUSE
        boxes, shell = dict(rects or {}), _shell()
        self.mouse = Mouse(boxes, area)
        self.keyboard = Keyboard(shell)
        self.clipboard = Clipboard(boxes, shell)
        self.os = OS(shell)
        self.window_manager = WindowManager(shell)
        # The prompt calls it a module, and models import it.
        modules: dict[str, Any] = sys.modules
        modules["computer"] = self


def _shell() -> Shell:
    if os.name == "nt":
        from guest_server.windows.computer import WindowsPrograms

        return WindowsPrograms()
    from guest_server.linux.computer import LinuxPrograms

    return LinuxPrograms()


def _shares(x: float, y: float, area: Sequence[int] | None) -> tuple[int, int]:
    if not (0 <= x <= 1 and 0 <= y <= 1):
        raise ValueError(f"expected x and y from 0 to 1, got {x} and {y}")
    left, top, right, bottom = area or (0, 0, *pyautogui.size())
    return min(left + int(x * (right - left)), right - 1), min(top + int(y * (bottom - top)), bottom - 1)


def _box(boxes: Mapping[int, Box], number: int | str) -> Box:
    box = boxes.get(int(number))
    if box is None:
        raise LookupError(f"there is no element {number}; {len(boxes)} are numbered")
    return box


def closest(windows: Sequence[WindowInfo], name: str) -> WindowInfo | None:
    """The window whose title best matches a name: equal, else similar, else containing it; topmost first."""
    target = " ".join(name.split()).casefold()
    titles = {" ".join(window.title.split()).casefold(): window for window in windows if window.title}
    alike = difflib.get_close_matches(target, list(titles), n=1)
    part = [title for title in titles if target and target in title]
    likely = [target] if target in titles else alike or part[-1:]
    return titles[likely[0]] if likely else None


def _newest(windows: Sequence[WindowInfo], before: set[int]) -> WindowInfo | None:
    return next((window for window in reversed(windows) if window.id not in before), None)


def _wait_for(look: Callable[[], WindowInfo | None]) -> WindowInfo | None:
    deadline = time.monotonic() + _WINDOW_SECONDS
    while True:
        window = look()
        if window is not None or time.monotonic() >= deadline:
            return window
        time.sleep(_LOOK_SECONDS)
