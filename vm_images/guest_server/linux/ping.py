"""Waits until the focused program has handled all its events, with the window manager protocol _NET_WM_PING."""

import select
import time
from collections.abc import Callable
from typing import Any

from Xlib import X
from Xlib.protocol import event as events

from guest_server.linux.x11 import GONE, XClient
from guest_server.protocol.errors import GuestError

_ANSWER_SECONDS = 15.0


class Pinger:
    """Pings the active window. Programs handle events in order."""

    def __init__(self, x: XClient, wait_idle: Callable[[], None]) -> None:
        self._x = x
        self._wait_idle = wait_idle
        self._number = 0

    def wait_read(self) -> None:
        """Returns when the active window's program has handled everything sent before.

        Raises:
            GuestError: It does not respond.
        """
        window = self._active()
        if window is None or not self._answers_pings(window):
            self._wait_idle()
            return
        # A program answers on the root window. Listening there permanently would accumulate events.
        self._x.root.change_attributes(event_mask=X.SubstructureNotifyMask)
        try:
            self._ask(window)
        finally:
            self._x.root.change_attributes(event_mask=X.NoEventMask)

    def _ask(self, window: Any) -> None:
        self._number += 1
        self._send(window)
        deadline = time.monotonic() + _ANSWER_SECONDS
        while not any(self._is_answer(event) for event in self._x.fresh_events()):
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise GuestError("timeout", f"the active window did not take its input within {_ANSWER_SECONDS:g} s")
            select.select([self._x.display.fileno()], [], [], remaining)

    def _active(self) -> Any:
        value = self._x.window_property(self._x.root, "_NET_ACTIVE_WINDOW")
        return self._x.display.create_resource_object("window", value[0]) if value and value[0] else None

    def _answers_pings(self, window: Any) -> bool:
        protocols = self._x.window_property(window, "WM_PROTOCOLS")
        return protocols is not None and self._x.atom("_NET_WM_PING") in protocols

    def _send(self, window: Any) -> None:
        data = (32, [self._x.atom("_NET_WM_PING"), self._number, window.id, 0, 0])
        message = events.ClientMessage(window=window, client_type=self._x.atom("WM_PROTOCOLS"), data=data)
        try:
            window.send_event(message, event_mask=X.NoEventMask)
            self._x.display.flush()
        except GONE:
            return  # Closed meanwhile: the wait ends by its deadline.

    def _is_answer(self, event: Any) -> bool:
        if event.type != X.ClientMessage or event.client_type != self._x.atom("WM_PROTOCOLS"):
            return False
        values = event.data[1]
        return bool(values[0] == self._x.atom("_NET_WM_PING") and values[1] == self._number)
