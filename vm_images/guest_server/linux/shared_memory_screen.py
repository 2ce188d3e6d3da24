"""Screen of an X server with a real graphics card: pictures come through shared memory, the pointer is drawn in.

Unlike Xvfb such a server may change its size while it runs.
"""

from Xlib.error import BadMatch

from guest_server.linux.pointer_picture import PointerPicture
from guest_server.linux.screen import XScreen
from guest_server.linux.shared_memory import SharedPicture
from guest_server.linux.x11 import XClient, require
from guest_server.protocol.machine import ScreenFrame

_PIXEL_BYTES = 4
_DEPTH = 24
_TRIES = 3


class ShmScreen(XScreen):
    """Pictures and stability of the screen."""

    def __init__(self, display_name: str) -> None:
        client = XClient(display_name)
        require(client.display, "XFIXES")
        client.display.xfixes_query_version()
        self._pointer = PointerPicture()
        self._picture: SharedPicture | None = None
        super().__init__(client, display_name)
        with client:
            self._attach()

    def grab(self) -> ScreenFrame:
        """The current screen; requests are processed in order, so earlier ones are drawn."""
        with self._x:
            pixels = bytearray(self._capture())
            self._pointer.draw(pixels, (self.width, self.height), self._x.display.xfixes_get_cursor_image(self._x.root))
            return ScreenFrame(memoryview(pixels), self.width, self.height, self.width * _PIXEL_BYTES)

    def peek(self) -> ScreenFrame:
        return self.grab()

    def _all_pixels(self) -> bytes:
        with self._x:
            return bytes(self._capture())

    def _capture(self) -> memoryview:
        """Pixels without the pointer, valid until the next call; with the lock held."""
        for _ in range(_TRIES):
            picture = self._attach()
            try:
                return picture.take(self._x.root, self.width, self.height)
            except BadMatch:
                continue  # The screen has become smaller since we looked.
        raise ValueError("the screen's size changes faster than a picture can be taken")

    def _attach(self) -> SharedPicture:
        """Determines the size of the screen, and shares as much memory."""
        now = self._x.root.get_geometry()
        if now.depth != _DEPTH:
            raise ValueError(f"the screen must have {_DEPTH} bits of colour, not {now.depth}")
        size = now.width * now.height * _PIXEL_BYTES
        if self._picture is None or self._picture.size != size:
            if self._picture is not None:
                self._picture.close()
            self._picture = SharedPicture(self._x, size)
        self.width, self.height = int(now.width), int(now.height)
        return self._picture
