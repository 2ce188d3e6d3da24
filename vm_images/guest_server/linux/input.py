"""Mouse and keyboard of an X11 desktop."""

from collections.abc import Callable, Sequence

from guest_server.linux.keyboard import XKeyboard
from guest_server.linux.pointer import Pointer
from guest_server.linux.x11 import XClient, require
from guest_server.protocol.errors import GuestError
from guest_server.protocol.input_events import Event, points


class XInput:
    """Performs events in order. Requests of several callers do not interleave."""

    def __init__(
        self, display_name: str, wait_idle: Callable[[], None], before_press: Callable[[int, int], None]
    ) -> None:
        self._x = XClient(display_name)
        require(self._x.display, "XTEST")
        screen = self._x.display.screen()
        self._width, self._height = screen.width_in_pixels, screen.height_in_pixels
        self._pointer = Pointer(self._x, before_press)
        self._keyboard = XKeyboard(self._x, wait_idle)

    def check(self, events: Sequence[Event]) -> None:
        """Refuses points off the screen; the edge itself (`x == width`) counts as its last pixel."""
        for x, y in points(events):
            if not (0 <= x <= self._width and 0 <= y <= self._height):
                size = f"{self._width}x{self._height}"
                raise GuestError("off_screen", f"({x}, {y}) is not on the screen of {size} pixels")

    def perform(self, events: Sequence[Event]) -> None:
        """Performs them and returns when the X server has processed them."""
        with self._x:
            try:
                for event in events:
                    self._pointer.perform(event)
                    self._keyboard.perform(event)
            finally:
                self._x.sync()

    def notice_keymap(self) -> None:
        """Called when a program has changed the keyboard mapping, so that the next one finds `<` in its place."""
        with self._x:
            self._keyboard.notice_changes()
