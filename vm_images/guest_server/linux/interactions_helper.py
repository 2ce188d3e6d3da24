"""Helper process that keeps the interaction log: `python3 -m guest_server.linux.interactions_helper`.

Reads requests as JSON lines from stdin and answers on stdout. It is a separate process: listening costs the server no
time, and an application that hangs or crashes the accessibility library affects only the helper.
"""

import json
import os
import queue
import sys
import threading
from collections.abc import Iterable
from typing import Any

from Xlib import X

from guest_server.linux.a11y_ask import HungError, prepare
from guest_server.linux.hit_test import Search, described, has_focus
from guest_server.linux.input_log import Heard, InputRecorder, LogMark, Press
from guest_server.linux.key_symbols import KeymapChange, Symbols
from guest_server.linux.keyboard import key_keysym
from guest_server.linux.pointer_context import PointerContext
from guest_server.linux.services import hide_memory
from guest_server.linux.x11 import GONE
from guest_server.protocol.errors import GuestError
from guest_server.protocol.interaction_log import InteractionLog, InteractionTarget, key_words
from guest_server.protocol.keys import KEYSYMS

_BUTTONS = {1: "left", 2: "middle", 3: "right"}
_PREFERRED = ("enter", "esc", "delete", "pageup", "pagedown", "printscreen", "hangul")  # Of names for the same key.
_MILLISECONDS = 250
_MARK_SECONDS = 5.0


class InteractionsHelper:
    """Receives presses, finds their controls, and answers requests."""

    def __init__(self) -> None:
        self.problem = prepare(_MILLISECONDS)
        self._items: queue.SimpleQueue[Heard | dict[str, Any] | None] = queue.SimpleQueue()
        self._recorder = InputRecorder(os.environ["DISPLAY"], self._items.put)
        self._x = self._recorder.client
        self._around = PointerContext(self._x)
        self._symbols = self._read_symbols()
        self._remapped: set[tuple[int, int]] = set()
        self._log = InteractionLog(self._focused_target)
        self._last: Any = None  # The last control used, probably the focused one.
        self._ahead: tuple[int, int, InteractionTarget] | None = None
        self._recorder.start()

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Handles `look` (the target of a coming click) or `read` (entries after a number)."""
        if self.problem:
            return {"problem": self.problem}
        self._catch_up()
        if question["what"] == "look":
            self._log.finish()
            x, y = question["x"], question["y"]
            self._ahead = (x, y, self._under(x, y))
            return {}
        return {"interactions": self._log.entries(question["since"])}

    def run(self) -> None:
        """Answers requests until stdin ends; in between, presses are inspected as soon as they arrive."""
        while (item := self._items.get()) is not None:
            if isinstance(item, dict):
                _say(self.answer(item))
            else:
                self._handle(item)

    def ask(self, lines: Iterable[str]) -> None:
        """Passes requests on, one per line. Runs in its own thread."""
        for line in lines:
            self._items.put(json.loads(line))
        self._items.put(None)

    def _catch_up(self) -> None:
        self._recorder.mark()
        while not isinstance(item := self._items.get(timeout=_MARK_SECONDS), LogMark):
            self._handle(item)
        self._notice_layout()

    def _notice_layout(self) -> None:
        """Reloads the mapping if it was changed by other requests than the recorded one (`setxkbmap`)."""
        with self._x:
            events = [event for event in self._x.fresh_events() if event.type == X.MappingNotify]
        changed = {(event.first_keycode, event.count) for event in events if event.request == X.MappingKeyboard}
        if changed - self._remapped:
            self._symbols = self._read_symbols()
        self._remapped.clear()

    def _handle(self, heard: object) -> None:
        if isinstance(heard, KeymapChange):
            self._symbols.change(heard)
            self._remapped.add((heard.first, len(heard.rows)))
        elif isinstance(heard, Press) and heard.is_key:
            self._key(heard)
        elif isinstance(heard, Press) and heard.code in _BUTTONS:
            self._log.finish()
            self._log.click(_BUTTONS[heard.code], heard.x, heard.y, self._target_at(heard.x, heard.y))

    def _key(self, press: Press) -> None:
        meant = self._symbols.pressed(press.code, press.state)
        if meant.text:
            self._log.character(meant.text)
        elif meant.name:
            self._log.key(key_words(meant.name, meant.modifiers))

    def _target_at(self, x: int, y: int) -> InteractionTarget:
        """The target of a press: known from before the press, if it was requested then."""
        if self._ahead is not None and self._ahead[:2] == (x, y):
            return self._ahead[2]
        self._ahead = None
        return self._under(x, y)

    def _under(self, x: int, y: int) -> InteractionTarget:
        window = self._around.active_title()
        try:
            owner = self._around.owner(x, y)
            if owner is None or owner.bar:
                return InteractionTarget(role="title bar" if owner is not None else "", window=window)
            self._last = Search().at(owner.pid, x, y, popup=owner.popup)
            if self._last is not None:
                return described(self._last, window)
        except (HungError, *GONE):
            pass
        return self._around.pictured(InteractionTarget(window=window), x, y)

    def _focused_target(self) -> InteractionTarget:
        window = self._around.active_title()
        try:
            if not has_focus(self._last):
                self._last = Search().focused(self._around.active_pid())
            return described(self._last, window)
        except (HungError, *GONE):
            return InteractionTarget(window=window)

    def _read_symbols(self) -> Symbols:
        with self._x:
            info = self._x.display.display.info
            first, last = info.min_keycode, info.max_keycode
            return Symbols(first, self._x.display.get_keyboard_mapping(first, last - first + 1), _names())


def _names() -> dict[int, str]:
    """Symbol -> name of its key in our API."""
    names: dict[int, str] = {}
    for name in (*_PREFERRED, *KEYSYMS):
        if len(name) > 1:
            names.setdefault(key_keysym(name), name)
    return names


def main() -> None:
    """Reports that the log has started, or why not, then keeps it until stdin ends."""
    hide_memory()
    try:
        helper = InteractionsHelper()
    except GuestError as error:
        _say({"problem": error.message})
        return
    _say({"problem": helper.problem} if helper.problem else {"ready": True})
    threading.Thread(target=helper.ask, args=(sys.stdin,), name="questions", daemon=True).start()
    helper.run()


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
