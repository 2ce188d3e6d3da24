"""One DevTools session: a websocket over a tunnel to the browser's port.

Implemented sans-io, so that the tunnel is the only connection and every wait has one deadline. Formats: Chrome DevTools
Protocol, https://chromedevtools.github.io/devtools-protocol/.
"""

import json
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidHandshake, PayloadTooBig
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import parse_uri

from backend.domain.errors import DeskarenaError, GuestRefused
from worker.devtools.http import Opened
from worker.devtools.tunnel import Deadline

MAX_MESSAGE = 96 * 2**20
_MAX_EVENTS = 1000
_OK = 200


class Session:
    """A websocket to one page, or to the browser as a whole. Its constructor connects."""

    def __init__(self, opened: Opened, path: str, deadline: Deadline) -> None:
        """Connects.

        Raises:
            GuestRefused: `not_found`, there is no such page; otherwise as `Tunnel`.
        """
        self._events: deque[Mapping[str, Any]] = deque(maxlen=_MAX_EVENTS)
        self._inbox: deque[Mapping[str, Any]] = deque()
        self._number = 0
        self._text = bytearray()
        self._tunnel = opened()
        self._protocol = ClientProtocol(parse_uri(f"ws://localhost{path}"), max_size=MAX_MESSAGE)
        try:
            self._shake_hands(path, deadline)
        except DeskarenaError:
            self._tunnel.close()
            raise

    def _shake_hands(self, path: str, deadline: Deadline) -> None:
        self._protocol.send_request(self._protocol.connect())
        self._flush()
        while self._protocol.state is State.CONNECTING:
            self._protocol.receive_data(self._tunnel.receive(deadline))
            answers = [event for event in self._protocol.events_received() if isinstance(event, Response)]
            if isinstance(self._protocol.handshake_exc, InvalidHandshake) or any(
                answer.status_code >= _OK + 100 for answer in answers
            ):
                raise GuestRefused(f"the browser has no page at {path}", kind="not_found")

    def call(self, method: str, parameters: Mapping[str, Any] | None, deadline: Deadline) -> Mapping[str, Any]:
        """Sends a command and waits for its result.

        Raises:
            GuestRefused: `failed`, the browser refused it; `timeout`; `not_found`, the page is gone; `too_large`.
        """
        self._number += 1
        number = self._number
        self._say({"id": number, "method": method, "params": dict(parameters or {})})
        while True:
            message = self._next(deadline)
            if message.get("id") != number:
                self._note(message)
                continue
            if "error" in message:
                error = message["error"]
                words = error.get("message", "") if isinstance(error, dict) else ""
                raise GuestRefused(f"{method}: {str(words)[:300]}", kind="failed")
            result = message.get("result", {})
            return result if isinstance(result, dict) else {}

    def wait_for(self, event: str, deadline: Deadline) -> Mapping[str, Any]:
        """Parameters of the next event of that name, including those received since `forget`."""
        while True:
            for message in list(self._events):
                if message.get("method") == event:
                    self._events.remove(message)
                    parameters = message.get("params", {})
                    return parameters if isinstance(parameters, dict) else {}
            self._note(self._next(deadline))

    def forget(self) -> None:
        """Drops the events received so far."""
        self._events.clear()

    def close(self) -> None:
        """Ends the conversation. Safe to call twice."""
        if self._protocol.state is State.OPEN:
            with suppress(DeskarenaError):
                self._protocol.send_close(CloseCode.NORMAL_CLOSURE)
                self._flush()
        self._tunnel.close()

    def _note(self, message: Mapping[str, Any]) -> None:
        # A dialog of the page (leave this page?) would block everything that follows.
        if message.get("method") == "Page.javascriptDialogOpening":
            self._number += 1
            self._say({"id": self._number, "method": "Page.handleJavaScriptDialog", "params": {"accept": True}})
        if "method" in message:
            self._events.append(message)

    def _say(self, message: Mapping[str, Any]) -> None:
        if self._protocol.state is not State.OPEN:
            raise self._page_gone()
        self._protocol.send_text(json.dumps(message).encode())
        self._flush()

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                self._tunnel.send(data)

    def _next(self, deadline: Deadline) -> Mapping[str, Any]:
        """The next complete message; control frames are handled on the way."""
        while not self._inbox:
            if self._protocol.state is not State.OPEN:
                raise self._page_gone()
            self._protocol.receive_data(self._tunnel.receive(deadline))
            self._flush()
            for event in self._protocol.events_received():
                message = self._read_event(event)
                if message is not None:
                    self._inbox.append(message)
        return self._inbox.popleft()

    def _read_event(self, event: object) -> Mapping[str, Any] | None:
        if not isinstance(event, Frame) or event.opcode not in {Opcode.TEXT, Opcode.CONT}:
            return None
        self._text += event.data
        if len(self._text) > MAX_MESSAGE:
            raise GuestRefused(f"the page's reply is larger than {MAX_MESSAGE} bytes", kind="too_large")
        if not event.fin:
            return None
        message_bytes, self._text = bytes(self._text), bytearray()
        try:
            message = json.loads(message_bytes)
        except (ValueError, RecursionError):
            raise GuestRefused("the browser's reply is not valid JSON", kind="failed") from None
        return message if isinstance(message, dict) else {}

    def _page_gone(self) -> GuestRefused:
        if isinstance(self._protocol.parser_exc, PayloadTooBig):
            return GuestRefused(f"the page's reply is larger than {MAX_MESSAGE} bytes", kind="too_large")
        return GuestRefused("the page is gone", kind="not_found")
