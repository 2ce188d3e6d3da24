"""Requests the text of the X selection CLIPBOARD from its owner (ICCCM section 2)."""

import select
import time
from typing import Any

from Xlib import X

from guest_server.linux.x11 import XClient
from guest_server.protocol.errors import GuestError

_ANSWER_SECONDS = 7.0  # Two readers in sequence get an answer before their client gives the desktop up.


class SelectionReader:
    """One request at a time, with a deadline and a size limit."""

    def __init__(self, display_name: str, longest: int) -> None:
        self._x = XClient(display_name)
        self._longest = longest
        self._window = self._x.root.create_window(0, 0, 1, 1, 0, X.CopyFromParent, event_mask=X.PropertyChangeMask)

    def read(self) -> str:
        """The clipboard's text, empty if it has none.

        Raises:
            GuestError: `timeout` if the owner does not answer, `too_large` if it gives too much.
        """
        with self._x:
            if self._x.display.get_selection_owner(self._x.atom("CLIPBOARD")) == X.NONE:
                return ""
            for target, encoding in (("UTF8_STRING", "utf-8"), ("STRING", "latin-1")):
                data = self._ask(self._x.atom(target))
                if data is not None:
                    return data.decode(encoding, "replace")
        return ""

    def _ask(self, target: int) -> bytes | None:
        self._x.fresh_events()
        property_name = self._x.atom("DESKARENA_CLIPBOARD")
        self._window.delete_property(property_name)
        self._window.convert_selection(self._x.atom("CLIPBOARD"), target, property_name, X.CurrentTime)
        answer = self._wait(lambda event: event.type == X.SelectionNotify)
        if answer.property == X.NONE:
            return None
        return self._collect(property_name)

    def _collect(self, property_name: int) -> bytes:
        kind, data = self._read_property(property_name)
        if kind != self._x.atom("INCR"):
            return data
        collected = bytearray()
        while True:
            self._wait(lambda event: _is_new(event, property_name))
            _, piece = self._read_property(property_name)
            if not piece:
                return bytes(collected)
            collected += piece
            self._check(len(collected))

    def _read_property(self, property_name: int) -> tuple[int, bytes]:
        """Type and bytes of the property, which is deleted (for text in pieces this requests the next one)."""
        reply = self._window.get_property(property_name, X.AnyPropertyType, 0, self._longest // 4 + 1)
        self._window.delete_property(property_name)
        self._x.display.flush()
        if reply is None:
            return 0, b""
        value = reply.value
        data = value.encode("latin-1") if isinstance(value, str) else bytes(value)
        self._check(len(data) + reply.bytes_after)
        return int(reply.property_type), data

    def _check(self, size: int) -> None:
        if size > self._longest:
            raise GuestError("too_large", f"the clipboard holds more than {self._longest} bytes of text")

    def _wait(self, matches: Any) -> Any:
        deadline = time.monotonic() + _ANSWER_SECONDS
        self._x.display.flush()
        while True:
            for event in self._x.fresh_events():
                if matches(event):
                    return event
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                message = f"the program that owns the clipboard did not answer within {_ANSWER_SECONDS:g} s"
                raise GuestError("timeout", message)
            select.select([self._x.display.fileno()], [], [], remaining)


def _is_new(event: Any, property_name: int) -> bool:
    return bool(event.type == X.PropertyNotify and event.atom == property_name and event.state == X.PropertyNewValue)
