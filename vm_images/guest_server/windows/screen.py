"""Captures the screen of a Windows desktop by GDI, with the pointer drawn in.

BitBlt copies the composed screen without the pointer, whose picture is then drawn at its position.
"""

import ctypes
import threading
import time
from ctypes import wintypes

from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import ScreenFrame
from guest_server.windows.api import failure, gdi32, is_wine, user32

_WIDTH_METRIC, _HEIGHT_METRIC = 0, 1
_DOTS_PER_INCH, _USUAL_DOTS = 88, 96
_COPY, _WITH_LAYERED = 0x00CC0020, 0x40000000
_SHOWING, _NORMAL = 1, 3
_ARROW = 32512
_LOOK_SECONDS = 0.03


class _Header(ctypes.Structure):
    """BITMAPINFOHEADER."""

    _fields_ = (
        ("size", wintypes.DWORD),
        ("width", wintypes.LONG),
        ("height", wintypes.LONG),
        ("planes", wintypes.WORD),
        ("bits", wintypes.WORD),
        ("compression", wintypes.DWORD),
        ("bytes", wintypes.DWORD),
        ("horizontal", wintypes.LONG),
        ("vertical", wintypes.LONG),
        ("colors", wintypes.DWORD),
        ("important", wintypes.DWORD),
    )


class _Cursor(ctypes.Structure):
    """CURSORINFO."""

    _fields_ = (
        ("size", wintypes.DWORD),
        ("flags", wintypes.DWORD),
        ("handle", wintypes.HANDLE),
        ("place", wintypes.POINT),
    )


class _Icon(ctypes.Structure):
    """ICONINFO."""

    _fields_ = (
        ("is_icon", wintypes.BOOL),
        ("x", wintypes.DWORD),
        ("y", wintypes.DWORD),
        ("mask", wintypes.HANDLE),
        ("color", wintypes.HANDLE),
    )


class _Canvas:
    """Memory that GDI draws into, and its device context."""

    def __init__(self, screen: int, width: int, height: int) -> None:
        self.size = (width, height)
        self.stride = 4 * width
        header = _Header(ctypes.sizeof(_Header), width, -height, 1, 32)  # Negative: from the top.
        bits = ctypes.c_void_p()
        self.context = gdi32.CreateCompatibleDC(screen)
        self._bitmap = gdi32.CreateDIBSection(screen, ctypes.byref(header), 0, ctypes.byref(bits), None, 0)
        if not self.context or not self._bitmap or bits.value is None:
            raise failure("no memory for a picture of the screen")
        self._before = gdi32.SelectObject(self.context, self._bitmap)
        self.pixels = memoryview((ctypes.c_ubyte * (self.stride * height)).from_address(bits.value)).cast("B")

    def free(self) -> None:
        """Returns it to Windows, with `pixels`."""
        gdi32.SelectObject(self.context, self._before)
        gdi32.DeleteObject(self._bitmap)
        gdi32.DeleteDC(self.context)


class GdiScreen:
    """Captures and stillness of the primary screen, whose size may change."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._canvas: _Canvas | None = None

    @property
    def width(self) -> int:
        """Pixels from left to right."""
        return int(user32.GetSystemMetrics(_WIDTH_METRIC))

    @property
    def height(self) -> int:
        """Pixels from top to bottom."""
        return int(user32.GetSystemMetrics(_HEIGHT_METRIC))

    @property
    def scale(self) -> float:
        """Scale of the display settings: 1.5 for 150 %."""
        screen = user32.GetDC(None)
        try:
            return float(gdi32.GetDeviceCaps(screen, _DOTS_PER_INCH)) / _USUAL_DOTS
        finally:
            user32.ReleaseDC(None, screen)

    def grab(self) -> ScreenFrame:
        with self._lock:
            canvas = self._draw()
            return ScreenFrame(bytes(canvas.pixels), *canvas.size, canvas.stride)

    def peek(self) -> ScreenFrame:
        """The picture as a copy, because the next picture may free this one's memory."""
        return self.grab()

    def pointer(self) -> tuple[int, int]:
        """Position of the pointer."""
        point = wintypes.POINT()
        if not user32.GetCursorPos(ctypes.byref(point)):
            raise failure("the pointer's place")
        return int(point.x), int(point.y)

    def wait_stable(self, quiet: float, timeout: float) -> bool:
        """Compares pictures, because Windows does not report when it has drawn."""
        start = time.monotonic()
        picture, changed = self.grab().pixels, start
        while True:
            now = time.monotonic()
            if now - changed >= quiet:
                return True
            if now - start >= timeout:
                return False
            time.sleep(min(_LOOK_SECONDS, max(0.0, changed + quiet - now)))
            current = self.grab().pixels
            if current != picture:
                picture, changed = current, time.monotonic()

    def _draw(self) -> _Canvas:
        size = (self.width, self.height)
        screen = user32.GetDC(None)
        try:
            if self._canvas is None or self._canvas.size != size:
                if self._canvas is not None:
                    self._canvas.free()
                    self._canvas = None  # Also if there is no memory for the new one.
                self._canvas = _Canvas(screen, *size)
            canvas = self._canvas
            if not gdi32.BitBlt(canvas.context, 0, 0, *size, screen, 0, 0, _COPY | _WITH_LAYERED):
                raise GuestError("failed", "Windows does not show its screen: it is locked, or asks for a password")
        finally:
            user32.ReleaseDC(None, screen)
        _draw_pointer(canvas.context)
        gdi32.GdiFlush()
        return canvas


def _draw_pointer(context: int) -> None:
    cursor, icon = _Cursor(ctypes.sizeof(_Cursor)), _Icon()
    if not user32.GetCursorInfo(ctypes.byref(cursor)) or not (cursor.flags & _SHOWING or is_wine()):
        return  # A program has hidden it.
    handle = cursor.handle
    if not user32.GetIconInfo(handle, ctypes.byref(icon)):
        # Under Wine only the program itself knows its pointer: an arrow at least shows the position.
        handle = user32.LoadCursorW(None, _ARROW)
        if not user32.GetIconInfo(handle, ctypes.byref(icon)):
            return
    x, y = cursor.place.x - icon.x, cursor.place.y - icon.y
    user32.DrawIconEx(context, x, y, handle, 0, 0, 0, None, _NORMAL)
    for bitmap in (icon.mask, icon.color):
        if bitmap:
            gdi32.DeleteObject(bitmap)
