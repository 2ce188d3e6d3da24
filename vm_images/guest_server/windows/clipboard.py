"""The clipboard's text on Windows."""

import contextlib
import ctypes
import threading
import time
from collections.abc import Iterator

from guest_server.protocol.errors import GuestError
from guest_server.protocol.limits import GuestLimits
from guest_server.windows.api import failure, kernel32, user32

_UNICODE_TEXT = 13
_MOVEABLE = 2
_OPEN_SECONDS, _LOOK_SECONDS = 3.0, 0.01
_CHARACTER_BYTES = 2


class WindowsClipboard:
    """Reads and writes text; other formats are untouched until something is written."""

    def __init__(self, limits: GuestLimits) -> None:
        self._longest = limits.text
        self._lock = threading.Lock()

    def read(self) -> str:
        """The text, cut at the limit."""
        with self._lock, _open_clipboard():
            handle = user32.GetClipboardData(_UNICODE_TEXT)
            if not handle:
                return ""
            memory = kernel32.GlobalLock(handle)
            if not memory:
                raise failure("the clipboard's text")
            try:
                size = min(kernel32.GlobalSize(handle) // _CHARACTER_BYTES, self._longest)
                text = ctypes.string_at(memory, size * _CHARACTER_BYTES).decode("utf-16-le", "replace")
            finally:
                kernel32.GlobalUnlock(handle)
        return text.partition("\0")[0].replace("\r\n", "\n")

    def write(self, text: str) -> None:
        """Replaces the clipboard's content; line ends become those of Windows."""
        lines = text.replace("\r\n", "\n").replace("\n", "\r\n")
        data = lines.encode("utf-16-le", "surrogatepass") + b"\0\0"
        with self._lock:
            give(_UNICODE_TEXT, data)


def give(kind: int, data: bytes) -> None:
    """Replaces the clipboard's content with data in one of Windows' formats.

    Raises:
        GuestError: another program holds it open.
        OSError: Windows refuses.
    """
    with _open_clipboard():
        if not user32.EmptyClipboard():
            raise failure("the clipboard")
        handle = kernel32.GlobalAlloc(_MOVEABLE, len(data))
        memory = kernel32.GlobalLock(handle) if handle else None
        if not memory:
            raise failure("no memory for the clipboard")
        ctypes.memmove(memory, data, len(data))
        kernel32.GlobalUnlock(handle)
        # From here on Windows owns the memory.
        if not user32.SetClipboardData(kind, handle):
            kernel32.GlobalFree(handle)
            raise failure("the clipboard did not take it")


@contextlib.contextmanager
def _open_clipboard() -> Iterator[None]:
    """Only one program can open the clipboard at a time; waits for its turn."""
    owner = user32.CreateWindowExW(0, "STATIC", None, 0, 0, 0, 0, 0, None, None, None, None)
    try:
        deadline = time.monotonic() + _OPEN_SECONDS
        while not user32.OpenClipboard(owner):
            if time.monotonic() >= deadline:
                raise GuestError("failed", "another program holds the clipboard open")
            time.sleep(_LOOK_SECONDS)
        try:
            yield
        finally:
            user32.CloseClipboard()
    finally:
        if owner:
            user32.DestroyWindow(owner)
