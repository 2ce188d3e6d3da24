"""Properties of a window's handle: texts, position, process. Used by the server and its helpers."""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import wintypes
from pathlib import PureWindowsPath

from guest_server.windows.api import callback, dwmapi, kernel32, user32

Box = tuple[int, int, int, int]
"""Left, top, width, height in screen pixels."""

_LONGEST_CLASS = 257
_LONGEST_PATH = 32_768
_GET_TEXT, _GET_TEXT_LENGTH = 0x000D, 0x000E
_ABORT_IF_HUNG = 0x0002
_ASK_MILLISECONDS = 500
_FRAME_BOUNDS, _CLOAKED = 9, 14
_QUERY_LIMITED = 0x1000
_MOST_WINDOWS = 10_000


def top_level() -> list[int]:
    """Handles of all windows on the desktop, topmost first."""
    return _enumerate_windows(lambda callback: user32.EnumWindows(callback, 0))


def children(window: int) -> list[int]:
    """Handles of the windows directly in one, topmost first."""
    inside = _enumerate_windows(lambda callback: user32.EnumChildWindows(window, callback, 0))
    return [child for child in inside if user32.GetAncestor(child, _PARENT) == window]


_PARENT, _ROOT_OWNER = 1, 3


def root_owner(window: int) -> int:
    """The window that a dialog finally belongs to, the window itself if it is not a dialog."""
    return int(user32.GetAncestor(window, _ROOT_OWNER) or window)


def _enumerate_windows(enumerate_them: Callable[[object], object]) -> list[int]:
    windows: list[int] = []

    def each(window: int | None, _: int) -> int:
        windows.append(window or 0)
        return len(windows) < _MOST_WINDOWS

    called = callback(wintypes.BOOL, wintypes.HWND, wintypes.LPARAM)(each)
    enumerate_them(called)
    return [window for window in windows if window]


def title(window: int) -> str:
    """A top-level window's title. Windows stores it, so a hanging program does not block."""
    length = user32.GetWindowTextLengthW(window)
    buffer = ctypes.create_unicode_buffer(length + 1)
    user32.GetWindowTextW(window, buffer, length + 1)
    return buffer.value


def send(window: int, message: int, first: int = 0, second: int = 0) -> int | None:
    """A window's answer to a message; None if its program hangs, or it is gone."""
    answer = ctypes.c_size_t()
    answered = user32.SendMessageTimeoutW(
        window, message, first, second, _ABORT_IF_HUNG, _ASK_MILLISECONDS, ctypes.byref(answer)
    )
    return int(answer.value) if answered else None


def text(window: int, longest: int) -> str | None:
    """A control's text, also of other programs; None if its program does not respond."""
    length = send(window, _GET_TEXT_LENGTH)
    if length is None:
        return None
    size = min(length, longest) + 1
    buffer = ctypes.create_unicode_buffer(size)
    if send(window, _GET_TEXT, size, ctypes.addressof(buffer)) is None:
        return None
    return buffer.value


def class_name(window: int) -> str:
    """Name of its window class."""
    buffer = ctypes.create_unicode_buffer(_LONGEST_CLASS)
    user32.GetClassNameW(window, buffer, _LONGEST_CLASS)
    return buffer.value


def rectangle(window: int) -> Box:
    """Its rectangle, including the invisible border of newer Windows."""
    rect = wintypes.RECT()
    user32.GetWindowRect(window, ctypes.byref(rect))
    return _box(rect)


def visible_rectangle(window: int) -> Box:
    rect = wintypes.RECT()
    failed = dwmapi.DwmGetWindowAttribute(window, _FRAME_BOUNDS, ctypes.byref(rect), ctypes.sizeof(rect))
    return rectangle(window) if failed or rect.right <= rect.left else _box(rect)


def _box(rect: wintypes.RECT) -> Box:
    return int(rect.left), int(rect.top), int(rect.right - rect.left), int(rect.bottom - rect.top)


def cloaked(window: int) -> bool:
    """True for windows that Windows keeps but does not show: suspended apps, other virtual desktops."""
    value = wintypes.DWORD()
    failed = dwmapi.DwmGetWindowAttribute(window, _CLOAKED, ctypes.byref(value), ctypes.sizeof(value))
    return not failed and bool(value.value)


def process_of(window: int) -> int:
    """Its process id, 0 if it is gone."""
    number = wintypes.DWORD()
    user32.GetWindowThreadProcessId(window, ctypes.byref(number))
    return int(number.value)


@contextmanager
def process_handle(number: int, rights: int) -> Iterator[int | None]:
    """A handle of a process; None if it does not exist, or may not be opened."""
    handle = kernel32.OpenProcess(rights, False, number)  # noqa: FBT003 - Windows' own order of arguments.
    try:
        yield handle or None
    finally:
        if handle:
            kernel32.CloseHandle(handle)


def program_of(process: int) -> str:
    """The name of a process's program without extension, `notepad`; empty if unknown."""
    with process_handle(process, _QUERY_LIMITED) as handle:
        if handle is None:
            return ""
        size = wintypes.DWORD(_LONGEST_PATH)
        buffer = ctypes.create_unicode_buffer(_LONGEST_PATH)
        if not kernel32.QueryFullProcessImageNameW(handle, 0, buffer, ctypes.byref(size)):
            return ""
        return PureWindowsPath(buffer.value).stem
