"""Owns the X selection CLIPBOARD and serves its text (ICCCM section 2), long texts in pieces."""

import os
import queue
import select
import threading
from concurrent.futures import Future
from typing import Any

from Xlib import X, Xatom
from Xlib.error import ConnectionClosedError
from Xlib.protocol import event as events

from guest_server.linux.x11 import GONE, XClient
from guest_server.protocol.errors import GuestError

PIECE = 64 * 2**10
_ANSWER_SECONDS = 5.0


class SelectionOwner:
    """Runs in a background thread: answering must never wait for a request of the API.

    Attributes:
        text: our text, None while somebody else owns the clipboard.
    """

    def __init__(self, display_name: str) -> None:
        self.text: str | None = None
        self._x = XClient(display_name)
        self._window = self._x.root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
        self._jobs: queue.SimpleQueue[tuple[str, Future[None]]] = queue.SimpleQueue()
        self._pieces: dict[tuple[int, int], tuple[Any, int, bytes]] = {}
        self._wake_read, self._wake_write = os.pipe()
        threading.Thread(target=self._serve, name="clipboard", daemon=True).start()

    def own(self, text: str) -> None:
        """Takes the clipboard.

        Raises:
            GuestError: another program took it at the same moment.
        """
        done: Future[None] = Future()
        self._jobs.put((text, done))
        os.write(self._wake_write, b"x")
        done.result(_ANSWER_SECONDS)

    def _serve(self) -> None:
        try:
            while True:
                for event in self._x.fresh_events():
                    self._handle(event)
                ready, _, _ = select.select([self._x.display.fileno(), self._wake_read], [], [])
                if self._wake_read in ready:
                    os.read(self._wake_read, 1)
                    self._own(*self._jobs.get())
        except (ConnectionClosedError, OSError):
            return  # The X server is gone; the session detects it and ends.

    def _own(self, text: str, done: "Future[None]") -> None:
        selection = self._x.atom("CLIPBOARD")
        self._window.set_selection_owner(selection, X.CurrentTime)
        owner = self._x.display.get_selection_owner(selection)
        if owner == X.NONE or owner.id != self._window.id:
            done.set_exception(GuestError("failed", "another program took the clipboard at the same moment"))
            return
        self.text = text
        done.set_result(None)

    def _handle(self, event: Any) -> None:
        if event.type == X.SelectionClear:
            self.text = None
        elif event.type == X.SelectionRequest:
            self._answer(event)
        elif event.type == X.PropertyNotify and event.state == X.PropertyDelete:
            self._next_piece(event.window, event.atom)

    def _answer(self, request: Any) -> None:
        # Old programs leave the property out and mean the target's name.
        property_atom = request.property or request.target
        try:
            success = self._give(request.requestor, property_atom, request.target)
            reply = events.SelectionNotify(
                time=request.time,
                requestor=request.requestor,
                selection=request.selection,
                target=request.target,
                property=property_atom if success else X.NONE,
            )
            request.requestor.send_event(reply)
            self._x.display.flush()
        except GONE:
            return

    def _give(self, window: Any, property_atom: int, target: int) -> bool:
        """Writes the text into the requesting window's property; False for an unsupported format."""
        if target == self._x.atom("TARGETS"):
            window.change_property(property_atom, Xatom.ATOM, 32, [target, *self._encodings()])
            return True
        encoding = self._encodings().get(target)
        if encoding is None or self.text is None:
            return False
        data = self.text.encode(encoding, "replace")
        kind = target if target != self._x.atom("TEXT") else self._x.atom("UTF8_STRING")
        if len(data) <= PIECE:
            window.change_property(property_atom, kind, 8, data)
            return True
        window.change_attributes(event_mask=X.PropertyChangeMask)
        self._pieces[window.id, property_atom] = (window, kind, data)
        window.change_property(property_atom, self._x.atom("INCR"), 32, [len(data)])
        return True

    def _encodings(self) -> dict[int, str]:
        names = {"UTF8_STRING": "utf-8", "TEXT": "utf-8", "STRING": "latin-1"}
        names |= {"text/plain;charset=utf-8": "utf-8", "text/plain": "utf-8"}
        return {self._x.atom(name): encoding for name, encoding in names.items()}

    def _next_piece(self, window: Any, property_atom: int) -> None:
        waiting = self._pieces.pop((window.id, property_atom), None)
        if waiting is None:
            return
        _, kind, data = waiting
        try:
            window.change_property(property_atom, kind, 8, data[:PIECE])  # An empty piece is the end.
            self._x.display.flush()
        except GONE:
            return
        if data:
            self._pieces[window.id, property_atom] = (window, kind, data[PIECE:])
