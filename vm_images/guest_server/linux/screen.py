"""Screen of an Xvfb server: its frame buffer is a mapped file, so a picture costs one memory copy.

Xvfb draws the pointer into the frame buffer, so every picture shows it. It removes the pointer while it draws under it
and restores it before it waits for the next request: the second round trip in `grab` waits for that.
"""

import mmap
import struct
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

from Xlib import X
from Xlib.error import ConnectionClosedError
from Xlib.ext import damage

from guest_server.linux.x11 import XClient, require
from guest_server.protocol.machine import ScreenFrame

_XWD = struct.Struct(">25I")
_COLOR_BYTES = 12
# During drawing, more frequent checks cost more than they gain.
_LOOK_SECONDS = 0.015


class XScreen(ABC):
    """Common part of the screens of all X servers.

    Attributes:
        width, height: in pixels.
        scale: always 1 on X11.
    """

    width: int
    height: int
    scale = 1.0

    def __init__(self, x: XClient, display_name: str) -> None:
        self._x = x
        self._changes = ServerWatch(display_name)

    @abstractmethod
    def grab(self) -> ScreenFrame:
        """The current screen with the pointer, after all earlier requests have been drawn."""

    @abstractmethod
    def peek(self) -> ScreenFrame:
        """Like `grab`, without a copy if possible."""

    @abstractmethod
    def _all_pixels(self) -> bytes:
        """All pixels for comparison; earlier requests may not be drawn yet."""

    def _wait_drawn(self) -> None:
        """Waits until earlier requests have been drawn; see the module docstring about the two round trips."""
        with self._x:
            self._x.sync()
            self._x.sync()

    def on_new_keymap(self, call: Callable[[], None]) -> None:
        """Registers a function that is called, in its own thread, when the keyboard mapping changes."""
        self._changes.on_new_keymap = call

    def pointer(self) -> tuple[int, int]:
        """Position of the pointer."""
        with self._x:
            reply = self._x.root.query_pointer()
        return int(reply.root_x), int(reply.root_y)

    def wait_stable(self, quiet: float, timeout: float) -> bool:
        """Waits for `quiet` seconds in which no pixel changed.

        The X server reports drawing; whether a pixel changed is determined from pictures, because some programs redraw
        the same content.
        """
        start = time.monotonic()
        self._wait_drawn()
        picture, changed, last_count = self._all_pixels(), start, self._changes.count
        while True:
            now = time.monotonic()
            if now - changed >= quiet:
                return True
            if now - start >= timeout:
                return False
            count = self._changes.wait_beyond(last_count, min(changed + quiet, start + timeout) - now)
            if count == last_count:
                continue
            last_count = count
            current = self._all_pixels()
            if current != picture:
                picture, changed = current, time.monotonic()
            time.sleep(_LOOK_SECONDS)


class XvfbScreen(XScreen):
    """Pictures and stability of an Xvfb screen."""

    def __init__(self, framebuffer: Path, x: XClient, display_name: str) -> None:
        with framebuffer.open("rb") as file:
            self._memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        header = _XWD.unpack_from(self._memory)
        depth, bits, self._stride = header[3], header[11], header[12]
        if (depth, bits) != (24, 32):
            raise ValueError(f"the screen must have 24 bits of colour in 32, not {depth} in {bits}")
        self.width, self.height = header[4], header[5]
        self._start = header[0] + header[19] * _COLOR_BYTES
        self._end = self._start + self._stride * self.height
        super().__init__(x, display_name)

    def grab(self) -> ScreenFrame:
        """The screen now; see the module's text for the two round trips."""
        self._wait_drawn()
        return ScreenFrame(self._all_pixels(), self.width, self.height, self._stride)

    def peek(self) -> ScreenFrame:
        self._wait_drawn()
        return ScreenFrame(memoryview(self._memory)[self._start : self._end], self.width, self.height, self._stride)

    def _all_pixels(self) -> bytes:
        return self._memory[self._start : self._end]


class ServerWatch:
    """Receives the X server's notifications in a background thread.

    Attributes:
        count: number of drawings.
        on_new_keymap: called when the keyboard mapping changes.
    """

    def __init__(self, display_name: str) -> None:
        self.count = 0
        self.on_new_keymap: Callable[[], None] = _nothing
        self._changed = threading.Condition()
        client = XClient(display_name)
        require(client.display, "DAMAGE")
        client.display.damage_query_version()
        # One event, then silence until it is reset: a program that draws all the time cannot flood us.
        self._damage = client.root.damage_create(damage.DamageReportNonEmpty)
        client.display.flush()
        threading.Thread(target=self._listen, args=(client,), name="x-events", daemon=True).start()

    def _listen(self, client: XClient) -> None:
        drawn = client.display.extension_event.DamageNotify
        try:
            while True:
                event = client.display.next_event()
                if event.type == drawn:
                    self._take_damage(client)
                elif event.type == X.MappingNotify:
                    threading.Thread(target=self.on_new_keymap, name="keymap", daemon=True).start()
        except (ConnectionClosedError, OSError):
            return  # The X server is gone; the session detects it and ends.

    def _take_damage(self, client: XClient) -> None:
        client.display.damage_subtract(self._damage)
        client.display.flush()
        with self._changed:
            self.count += 1
            self._changed.notify_all()

    def wait_beyond(self, count: int, seconds: float) -> int:
        """Waits until there were more than `count`, at most `seconds`; returns the count."""
        with self._changed:
            self._changed.wait_for(lambda: self.count > count, max(0.0, seconds))
            return self.count


def _nothing() -> None:
    """Default callback."""
