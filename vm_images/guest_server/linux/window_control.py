"""Top-level windows with EWMH, the convention of X11 window managers."""

import select
import time
from collections.abc import Callable
from typing import Any

from Xlib import X
from Xlib.protocol import event as events

from guest_server.linux.x11 import GONE, XClient
from guest_server.protocol.machine import Placement, WindowInfo

_CHANGE_SECONDS = 2.0
_ASKS, _ASK_SECONDS = 5, 1.0
_LOOK_SECONDS = 0.005
_STILL_SECONDS = 0.1
_TRIES = 3
_PAGER = 2  # EWMH source indication: a tool that acts for the user.
_REMOVE, _ADD = 0, 1  # Actions of _NET_WM_STATE.
_FILLING = ("_NET_WM_STATE_MAXIMIZED_HORZ", "_NET_WM_STATE_MAXIMIZED_VERT", "_NET_WM_STATE_FULLSCREEN")
_FIELDS = ("x", "y", "width", "height")  # In the order of _NET_MOVERESIZE_WINDOW and of its bits from 8 on.
_NORTH_WEST = 1
_HIDDEN_TYPES = tuple(f"_NET_WM_WINDOW_TYPE_{kind}" for kind in ("DESKTOP", "DOCK", "SPLASH"))


class XWindows:
    """Lists and commands windows through the window manager."""

    def __init__(self, x: XClient) -> None:
        self._x = x
        self._own = x.root.create_window(0, 0, 1, 1, 0, X.CopyFromParent, event_mask=X.PropertyChangeMask)

    def all(self) -> list[WindowInfo]:
        """All application windows, bottom to top; without the desktop itself, panels and splash screens."""
        with self._x:
            self._wait_manager()
            ids = self._x.window_property(self._x.root, "_NET_CLIENT_LIST_STACKING")
            active = self._active()
            windows = [self._describe(number, active) for number in (ids if ids is not None else ())]
        return [window for window in windows if window is not None]

    def _wait_manager(self) -> None:
        """Waits until the window manager has processed all earlier requests.

        It may be behind: a listed window may not have its frame and position yet. It processes requests in order, so an
        answer about a window of ours means that it is done with the others.
        """
        self._x.fresh_events()
        self._own.delete_property(self._x.atom("_NET_FRAME_EXTENTS"))
        for _ in range(_ASKS):  # One that is just being started anew has not heard the first question.
            self._tell(self._own, "_NET_REQUEST_FRAME_EXTENTS", [])
            if self._answered(time.monotonic() + _ASK_SECONDS):
                return

    def _answered(self, deadline: float) -> bool:
        while not any(_is_answer(event) for event in self._x.fresh_events()):
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return False
            select.select([self._x.display.fileno()], [], [], remaining)
        return True

    def _active(self) -> int:
        value = self._x.window_property(self._x.root, "_NET_ACTIVE_WINDOW")
        return int(value[0]) if value else 0

    def _object(self, number: int) -> Any:
        return self._x.display.create_resource_object("window", number)

    def _describe(self, number: int, active: int) -> WindowInfo | None:
        window = self._object(number)
        try:
            kinds = self._x.window_property(window, "_NET_WM_WINDOW_TYPE")
            if kinds and kinds[0] in {self._x.atom(name) for name in _HIDDEN_TYPES}:
                return None
            x, y, width, height = self._rectangle(window)
            states = self._x.window_property(window, "_NET_WM_STATE")
            pid = self._x.window_property(window, "_NET_WM_PID")
            return WindowInfo(
                id=number,
                title=self._title(window),
                wm_class=".".join(window.get_wm_class() or ()),
                x=x,
                y=y,
                width=width,
                height=height,
                active=number == active,
                minimized=bool(states) and self._x.atom("_NET_WM_STATE_HIDDEN") in states,
                pid=int(pid[0]) if pid else None,
            )
        except GONE:
            return None

    def _title(self, window: Any) -> str:
        for name in ("_NET_WM_NAME", "WM_NAME"):
            value = self._x.window_property(window, name)
            if value:
                return str(value.decode("utf-8", "replace") if isinstance(value, bytes) else value)
        return ""

    def _rectangle(self, window: Any) -> tuple[int, int, int, int]:
        geometry = window.get_geometry()
        origin = window.translate_coords(self._x.root, 0, 0)  # Returns the negated position.
        left, right, top, bottom = self._borders(window)
        size = (geometry.width + left + right, geometry.height + top + bottom)
        return int(-origin.x - left), int(-origin.y - top), int(size[0]), int(size[1])

    def _borders(self, window: Any) -> tuple[int, int, int, int]:
        """Widths of the frame: left, right, top, bottom."""
        extents = self._x.window_property(window, "_NET_FRAME_EXTENTS")
        left, right, top, bottom = extents[:4] if extents else (0, 0, 0, 0)
        return int(left), int(right), int(top), int(bottom)

    def _message(self, window: WindowInfo, name: str, data: list[int]) -> None:
        self._tell(self._object(window.id), name, data)

    def _tell(self, window: Any, name: str, data: list[int]) -> None:
        """Sends a request to the window manager, which listens on the root window."""
        message = events.ClientMessage(
            window=window, client_type=self._x.atom(name), data=(32, data + [0] * (5 - len(data)))
        )
        self._x.root.send_event(message, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)
        self._x.sync()

    def activate(self, window: WindowInfo) -> bool:
        """Raises and focuses the window, also out of the minimised state."""
        with self._x:
            self._message(window, "_NET_ACTIVE_WINDOW", [_PAGER, X.CurrentTime, 0])
            return _until(lambda: self._active() == window.id)

    def place(self, window: WindowInfo, placement: Placement) -> WindowInfo | None:
        """Maximises it, or sets its position and size."""
        with self._x:
            self._fill(
                window, _FILLING[:2] if placement.maximized else _FILLING, _ADD if placement.maximized else _REMOVE
            )
            self._wait_manager()
            if placement.maximized:
                return self._await_stable(window)
            for _ in range(_TRIES):
                # A window that filled the screen gets its frame back, possibly after it was measured.
                borders = self._borders(self._object(window.id))
                self._move(window, placement, borders)
                placed = self._await_stable(window)
                if placed is None or self._borders(self._object(window.id)) == borders:
                    break
            return placed

    def _fill(self, window: WindowInfo, states: tuple[str, ...], action: int) -> None:
        for state in states:
            self._message(window, "_NET_WM_STATE", [action, self._x.atom(state), 0, _PAGER])

    def _move(self, window: WindowInfo, placement: Placement, borders: tuple[int, int, int, int]) -> None:
        """Sets the position of the frame and the size of its content, as in EWMH."""
        values = {name: getattr(placement, name) for name in _FIELDS}
        left, right, top, bottom = borders
        for name, border in (("width", left + right), ("height", top + bottom)):
            if values[name] is not None:
                values[name] = max(1, values[name] - border)
        fields = sum(1 << (8 + bit) for bit, name in enumerate(_FIELDS) if values[name] is not None)
        flags = _NORTH_WEST | fields | _PAGER << 12
        self._message(window, "_NET_MOVERESIZE_WINDOW", [flags, *(_to_unsigned(values[name]) for name in _FIELDS)])

    def _await_stable(self, window: WindowInfo) -> WindowInfo | None:
        """The window once it is stable: a program may adjust a new size."""
        deadline, before = time.monotonic() + _CHANGE_SECONDS, None
        while True:
            self._wait_manager()
            now = self._describe(window.id, self._active())
            if now is None or (now == before) or time.monotonic() >= deadline:
                return now
            before = now
            time.sleep(_STILL_SECONDS)

    def close(self, window: WindowInfo) -> None:
        """Asks the window to close; it may show a dialog."""
        with self._x:
            self._message(window, "_NET_CLOSE_WINDOW", [X.CurrentTime, _PAGER])

    def kill(self, window: WindowInfo) -> None:
        """Cuts the application's connection to the X server, which ends it."""
        with self._x:
            self._object(window.id).kill_client()
            self._x.sync()


def _to_unsigned(value: int | None) -> int:
    """A coordinate as the 32 bits of a message."""
    return (value or 0) & 0xFFFFFFFF


def _is_answer(event: Any) -> bool:
    return bool(event.type == X.PropertyNotify and event.state == X.PropertyNewValue)


def _until(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + _CHANGE_SECONDS
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(_LOOK_SECONDS)
    return True
