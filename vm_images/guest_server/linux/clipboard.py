"""Clipboard of an X11 desktop: an owner that answers other programs, and a reader that asks them."""

import threading
from functools import cached_property

from guest_server.linux.selection_owner import SelectionOwner
from guest_server.linux.selection_reader import SelectionReader
from guest_server.protocol.limits import GuestLimits


class XClipboard:
    """Text of the selection CLIPBOARD."""

    def __init__(self, display_name: str, limits: GuestLimits) -> None:
        self._display_name = display_name
        self._longest = limits.text * 4
        self._lock = threading.Lock()

    # Both are created on first use: each connection costs 20 ms at the session's start.
    @cached_property
    def _owner(self) -> SelectionOwner:
        return SelectionOwner(self._display_name)

    @cached_property
    def _reader(self) -> SelectionReader:
        return SelectionReader(self._display_name, longest=self._longest)

    def read(self) -> str:
        """The text; from memory while we own it."""
        with self._lock:
            own = self._owner.text
            return own if own is not None else self._reader.read()

    def write(self, text: str) -> None:
        """Becomes the owner and returns when the X server has confirmed it."""
        with self._lock:
            self._owner.own(text)
