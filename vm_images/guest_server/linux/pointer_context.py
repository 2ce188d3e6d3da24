"""Context of a point on an X11 screen: its window, the active window, and a picture."""

import base64
import io
from dataclasses import dataclass, replace
from typing import Any

from Xlib import X

from guest_server.linux.x11 import GONE, XClient
from guest_server.protocol.interaction_log import InteractionTarget

_HALF_WIDTH, _HALF_HEIGHT = 160, 24
_MOST_PICTURE = 48 * 1024
_LEVELS = 6


@dataclass(frozen=True)
class Owner:
    """Owner of the window at a point.

    Attributes:
        pid: its program; None if unknown.
        popup: whether it has no frame: a menu or a drop-down list.
        bar: whether the point is on the window manager's frame.
    """

    pid: int | None = None
    popup: bool = False
    bar: bool = False


class PointerContext:
    """Queries the X server on a shared connection."""

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

    def owner(self, x: int, y: int) -> Owner | None:
        """Owner of the window at a point; None for the empty desktop."""
        with self._x:
            window = self._child(self._x.root, x, y)
            if window is None:
                return None
            if window.get_attributes().override_redirect and not self._child(window, x, y):
                return Owner(self._pid(window), popup=True)
            for _ in range(_LEVELS):
                if window is None:
                    break
                if self._x.window_property(window, "WM_STATE") is not None:
                    return Owner(self._pid(window))
                if self._pid(window) is not None:
                    return Owner(self._pid(window), popup=True)
                window = self._child(window, x, y)
        return Owner(bar=True)

    def pictured(self, control: InteractionTarget, x: int, y: int) -> InteractionTarget:
        """Adds a picture of the surroundings, so that their text can be read."""
        from PIL import Image

        left, top = max(0, x - _HALF_WIDTH), max(0, y - _HALF_HEIGHT)
        size = (min(self._size[0], x + _HALF_WIDTH) - left, min(self._size[1], y + _HALF_HEIGHT) - top)
        with self._x:
            pixels = self._x.root.get_image(left, top, *size, X.ZPixmap, 0xFFFFFFFF).data
        data = io.BytesIO()
        Image.frombuffer("RGB", size, pixels, "raw", "BGRX", 0, 1).convert("L").save(data, "PNG", compress_level=1)
        picture = data.getvalue() if data.tell() <= _MOST_PICTURE else b""
        return replace(control, picture=base64.b64encode(picture).decode())

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
