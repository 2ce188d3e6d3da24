"""The mouse, with the XTEST extension."""

import time
from collections.abc import Callable

from Xlib import X
from Xlib.ext import xtest

from guest_server.linux.x11 import XClient
from guest_server.protocol.input_events import Button, Click, Drag, Event, Move, Scroll

BUTTON_NUMBERS = {"left": 1, "middle": 2, "right": 3}
_WHEEL = {"up": 4, "down": 5, "left": 6, "right": 7}
_STEP_SECONDS = 0.01
_HELD_SECONDS = 2.0
_LOOK_SECONDS = 0.001


class Pointer:
    """Performs mouse events on a connection that the caller has locked."""

    def __init__(self, x: XClient, before_press: Callable[[int, int], None]) -> None:
        """Args: x: the connection; before_press: called with the position of a coming press."""
        self._x = x
        self._before_press = before_press

    def perform(self, event: Event) -> None:
        """Performs a mouse event; ignores others."""
        if isinstance(event, Move):
            self._glide(event.x, event.y, event.duration)
        elif isinstance(event, Button):
            if event.down:
                self._announce()
            self._button(BUTTON_NUMBERS[event.button], down=event.down)
            if not event.down:
                self._wait_released(BUTTON_NUMBERS[event.button])
        elif isinstance(event, Click):
            self._announce()
            self._clicks(BUTTON_NUMBERS[event.button], event.num)
            self._wait_released(BUTTON_NUMBERS[event.button])
        elif isinstance(event, Drag):
            self._announce()
            self._drag(event)
            self._wait_released(BUTTON_NUMBERS[event.button])
        elif isinstance(event, Scroll):
            self._clicks(_WHEEL["up" if event.dy > 0 else "down"], abs(event.dy))
            self._clicks(_WHEEL["right" if event.dx > 0 else "left"], abs(event.dx))

    def _announce(self) -> None:
        pointer = self._x.root.query_pointer()
        self._before_press(int(pointer.root_x), int(pointer.root_y))

    def _button(self, number: int, *, down: bool) -> None:
        xtest.fake_input(self._x.display, X.ButtonPress if down else X.ButtonRelease, number)

    def _clicks(self, number: int, times: int) -> None:
        for _ in range(times):
            self._button(number, down=True)
            self._button(number, down=False)

    def _wait_released(self, number: int) -> None:
        """Waits until the window manager has passed the click on.

        It sees every press first and grabs the pointer meanwhile, to focus the window. Keys are not grabbed: text typed
        at once would still go to the previously focused window.
        """
        mask = X.Button1Mask << (number - 1)
        deadline = time.monotonic() + _HELD_SECONDS
        while self._x.root.query_pointer().mask & mask and time.monotonic() < deadline:
            time.sleep(_LOOK_SECONDS)

    def _jump(self, x: int, y: int) -> None:
        xtest.fake_input(self._x.display, X.MotionNotify, x=x, y=y)

    def _glide(self, x: int, y: int, duration: float) -> None:
        """In steps, so that a program sees the path and not only the end."""
        pointer = self._x.root.query_pointer()
        steps = round(duration / _STEP_SECONDS)
        for step in range(1, steps):
            part = step / steps
            self._jump(
                round(pointer.root_x + (x - pointer.root_x) * part), round(pointer.root_y + (y - pointer.root_y) * part)
            )
            self._x.sync()
            time.sleep(_STEP_SECONDS)  # The gesture's own speed.
        self._jump(x, y)

    def _drag(self, event: Drag) -> None:
        number = BUTTON_NUMBERS[event.button]
        self._button(number, down=True)
        self._x.sync()
        try:
            self._glide(event.x, event.y, event.duration)
            self._x.sync()
        finally:
            self._button(number, down=False)
