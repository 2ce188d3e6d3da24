"""What lies around a point of an X11 screen: whose window it is, which window is active, what it looks like."""

import base64
import io
from dataclasses import replace
from typing import Any

from Xlib import X

from .interaction_log import Found
from .x11_linux import GONE, XClient

_HALF_WIDTH, _HALF_HEIGHT = 160, 24
_MOST_PICTURE = 48 * 1024
_LEVELS = 6


class Surroundings:
    """Asks the X server on a connection that it shares."""

    def __init__(self, x: XClient) -> None:
        self._x = x
        screen = x.display.screen()
        self._size = (int(screen.width_in_pixels), int(screen.height_in_pixels))

    def active_title(self) -> str:
        """The active window's title, empty if none is."""
        with self._x:
            window = self._active()
            for name in ("_NET_WM_NAME", "WM_NAME") if window is not None else ():
                value = self._x.window_property(window, name)
                if value:
                    return str(value.decode("utf-8", "replace") if isinstance(value, bytes) else value)
        return ""

    def active_pid(self) -> int | None:
        """Process of the active window, None if it is not known."""
        with self._x:
            window = self._active()
            return None if window is None else self._pid(window)

    def owner(self, x: int, y: int) -> tuple[int | None, bool]:
        """The process that the window at a point belongs to, and whether it is a popup: one without a frame."""
        with self._x:
            window, popup = self._child(self._x.root, x, y), False
            for level in range(_LEVELS):
                if window is None:
                    break
                if level == 0:
                    popup = bool(window.get_attributes().override_redirect)
                pid = self._pid(window)
                if pid is not None:
                    return pid, popup
                window = self._child(window, x, y)
        return None, popup

    def pictured(self, found: Found, x: int, y: int) -> Found:
        """With what the screen shows around the point, so that its text can be read."""
        from PIL import Image

        left, top = max(0, x - _HALF_WIDTH), max(0, y - _HALF_HEIGHT)
        size = (min(self._size[0], x + _HALF_WIDTH) - left, min(self._size[1], y + _HALF_HEIGHT) - top)
        with self._x:
            pixels = self._x.root.get_image(left, top, *size, X.ZPixmap, 0xFFFFFFFF).data
        data = io.BytesIO()
        Image.frombuffer("RGB", size, pixels, "raw", "BGRX", 0, 1).convert("L").save(data, "PNG", compress_level=1)
        kept = data.getvalue() if data.tell() <= _MOST_PICTURE else b""
        return replace(found, picture=base64.b64encode(kept).decode())

    def _active(self) -> Any:
        value = self._x.window_property(self._x.root, "_NET_ACTIVE_WINDOW")
        return self._x.display.create_resource_object("window", value[0]) if value and value[0] else None

    def _pid(self, window: Any) -> int | None:
        value = self._x.window_property(window, "_NET_WM_PID")
        return int(value[0]) if value else None

    def _child(self, window: Any, x: int, y: int) -> Any:
        try:
            child = window.translate_coords(self._x.root, x, y).child
        except GONE:
            return None
        return child if child != X.NONE else None
