"""Records every key and button press on the X server with the RECORD extension, whatever its source.

The stream is in the server's order. Two kinds of requests are recorded, too: changes of the keyboard mapping, needed to
interpret key codes, and a no-op request that we send as a marker that everything before has been received.
"""

import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from Xlib.error import ConnectionClosedError
from Xlib.ext import record
from Xlib.protocol import request

from guest_server.linux.key_symbols import KeymapChange, parse_keymap_change
from guest_server.linux.x11 import XClient, require
from guest_server.protocol.errors import GuestError

_FROM_SERVER, _FROM_CLIENT, _START = 0, 1, 4
_KEY_PRESS, _BUTTON_PRESS, _MAPPING_NOTIFY = 2, 4, 34
_CHANGE_MAPPING, _NO_OPERATION = 100, 127
_EVENT = struct.Struct("=BBHIIIIhhhhHBx")
_REQUEST = struct.Struct("=BBH")
_START_SECONDS = 5.0
_NOTHING = (0, 0)


@dataclass(frozen=True)
class Press:
    """A key (`keycode`) or a button was pressed at that point; `state` are the modifiers before."""

    code: int
    state: int
    x: int
    y: int
    is_key: bool


@dataclass(frozen=True)
class LogMark:
    """Marker: everything before our own request has been received."""


Heard = Press | KeymapChange | LogMark


class InputRecorder:
    """Listens in a background thread."""

    def __init__(self, display_name: str, hear: Callable[[Heard], None]) -> None:
        """Args: display_name: of the X server; hear: called in the thread with every event, in order."""
        self._hear = hear
        self.client = XClient(display_name)
        self._stream = XClient(display_name)
        require(self._stream.display, "RECORD")
        self._base = self.client.display.display.info.resource_id_base
        self._started = threading.Event()

    def start(self) -> None:
        """Returns when the server records.

        Raises:
            GuestError: it does not.
        """
        ranges = [_range(device_events=(_KEY_PRESS, _KEY_PRESS)), _range(device_events=(_BUTTON_PRESS, _BUTTON_PRESS))]
        ranges += [_range(core_requests=(number, number)) for number in (_CHANGE_MAPPING, _NO_OPERATION)]
        display = self._stream.display
        context = display.record_create_context(0, [record.AllClients], ranges)
        threading.Thread(target=self._listen, args=(context,), name="record", daemon=True).start()
        if not self._started.wait(_START_SECONDS):
            raise GuestError("failed", "the X server does not begin to record")

    def mark(self) -> None:
        """Makes a LogMark follow everything before it."""
        with self.client:
            request.NoOperation(display=self.client.display.display)
            # With a round trip: the server sends recorded data only when it has something else to send.
            self.client.sync()

    def _listen(self, context: int) -> None:
        try:
            self._stream.display.record_enable_context(context, self._receive)
        except (ConnectionClosedError, OSError):
            return  # The X server is gone; the session detects it and ends.

    def _receive(self, reply: Any) -> None:
        if reply.category == _START:
            self._started.set()
        elif reply.category == _FROM_SERVER:
            for index in range(0, len(reply.data) - _EVENT.size + 1, _EVENT.size):
                self._event(reply.data[index : index + _EVENT.size])
        elif reply.category == _FROM_CLIENT:
            for number, data in _requests(reply.data):
                self._request(number, data, is_own=reply.id_base == self._base)

    def _event(self, data: bytes) -> None:
        kind, code, _, _, _, _, _, x, y, _, _, state, _ = _EVENT.unpack(data)
        if kind & 0x7F in {_KEY_PRESS, _BUTTON_PRESS}:
            self._hear(Press(code, state, x, y, is_key=kind & 0x7F == _KEY_PRESS))

    def _request(self, number: int, data: bytes, *, is_own: bool) -> None:
        if number == _NO_OPERATION and is_own:
            self._hear(LogMark())
        elif number == _CHANGE_MAPPING:
            self._hear(parse_keymap_change(data))


def _range(**ranges: tuple[int, int]) -> dict[str, Any]:
    nothing = dict.fromkeys(("core_requests", "core_replies", "delivered_events", "device_events", "errors"), _NOTHING)
    beyond = dict.fromkeys(("ext_requests", "ext_replies"), (*_NOTHING, *_NOTHING))
    return {**nothing, **beyond, "client_started": False, "client_died": False, **ranges}


def _requests(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Splits a client's data into requests; lengths are in units of four bytes."""
    offset = 0
    while offset + _REQUEST.size <= len(data):
        number, _, length = _REQUEST.unpack_from(data, offset)
        if length == 0:
            return
        yield number, data[offset : offset + 4 * length]
        offset += 4 * length
