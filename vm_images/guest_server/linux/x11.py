"""Connections to the X server, one per concern, so that no concern waits for another's lock."""

import threading
from typing import Any, Self

from Xlib import X, display, error

from guest_server.protocol.errors import GuestError

GONE = (error.BadWindow, error.BadDrawable, error.BadMatch, error.BadAccess)
"""Errors of a request about a window that has closed meanwhile."""


class XClient:
    """An X connection with a lock. Use `with client:` around every use by more than one thread."""

    def __init__(self, name: str) -> None:
        self.display: Any = display.Display(name)
        # The default handler prints; an error about a closed window needs no message.
        self.display.set_error_handler(_ignore)
        if self.display.query_extension("XTEST").present:  # A program that grabs the server must not stop us.
            self.display.xtest_grab_control(True)  # noqa: FBT003 - python-xlib's argument.
        self.root: Any = self.display.screen().root
        self._lock = threading.RLock()

    def __enter__(self) -> Self:
        self._lock.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def atom(self, name: str) -> int:
        """The number of a named atom (python-xlib remembers it)."""
        return int(self.display.get_atom(name))

    def sync(self) -> None:
        """Returns when the server has processed everything sent before."""
        self.display.sync()

    def window_property(self, window: Any, name: str) -> Any:
        """Value of a window's property, None if it has none or the window is gone."""
        try:
            reply = window.get_full_property(self.atom(name), X.AnyPropertyType)
        except GONE:
            return None
        return reply.value if reply else None

    def fresh_events(self) -> list[Any]:
        """Every event that has arrived, without waiting."""
        return [self.display.next_event() for _ in range(self.display.pending_events())]


def _ignore(_error: object, _request: object) -> None:
    """Ignores an asynchronous X error."""


def require(display_object: Any, extension: str) -> None:
    """Raises GuestError if the X server lacks a required extension."""
    if not display_object.query_extension(extension).present:
        raise GuestError("not_available", f"the X server has no {extension} extension")
