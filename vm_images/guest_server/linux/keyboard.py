"""The keyboard, with the XTEST extension and every Unicode character."""

from collections.abc import Callable, Sequence
from typing import Any

from Xlib import XK, X
from Xlib.ext import xtest

from guest_server.linux.keymap import LSGT_KEYCODE, Keymap, Stroke, char_keysym, chunks
from guest_server.linux.ping import Pinger
from guest_server.linux.x11 import XClient
from guest_server.protocol.errors import GuestError
from guest_server.protocol.input_events import Event, Hotkey, Key, Type
from guest_server.protocol.keys import KEYSYMS, X11_KEYS, XF86_SYMBOLS

_GROUP_BITS = 0x6000
_CHAR_KEYS = {"\n": "Return", "\t": "Tab", "\b": "BackSpace"}


def named_keysym(name: str) -> int:
    """The value of a key symbol's name."""
    return XF86_SYMBOLS.get(name) or int(XK.string_to_keysym(name))


def key_keysym(key: str) -> int:
    """The symbol of a key named as pyautogui names it, or by its character."""
    name = KEYSYMS.get(key) or X11_KEYS.get(key, key)
    return char_keysym(name) if len(name) == 1 else named_keysym(name)


class XKeyboard:
    """Performs keyboard events on a connection that the caller has locked.

    Args:
        x: the connection.
        wait_idle: waits for a program that does not answer pings.
    """

    def __init__(self, x: XClient, wait_idle: Callable[[], None]) -> None:
        self._x = x
        self._pinger = Pinger(x, wait_idle)
        self._unread = False  # Whether a program may still have to read events that used spare keys.
        self._ours: dict[int, int] = {}
        self._renew()

    def _renew(self) -> None:
        self._keymap = self._read_keymap()
        self._change([(LSGT_KEYCODE, 0)])

    def _read_keymap(self) -> Keymap:
        info = self._x.display.display.info
        first, last = info.min_keycode, info.max_keycode
        rows = self._x.display.get_keyboard_mapping(first, last - first + 1)
        modifiers = {code for codes in self._x.display.get_modifier_mapping() for code in codes}
        self._shift = self._x.display.keysym_to_keycode(XK.XK_Shift_L)
        for keycode, keysym in self._ours.items():
            if rows[keycode - first][0] == keysym:
                rows[keycode - first] = []
        self._ours.clear()
        return Keymap(first, rows, modifiers)

    def _change(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Sets symbols of key codes in one request; spare codes in between keep theirs."""
        self._ours |= dict(pairs)
        first, last = min(pairs)[0], max(pairs)[0]
        # Twice the same: with one symbol only, shift or caps lock would change its case.
        rows = [[self._ours.get(keycode, 0)] * 2 for keycode in range(first, last + 1)]
        self._x.display.change_keyboard_mapping(first, rows)

    def notice_changes(self) -> None:
        """Reloads the map if somebody else changed it (a task that sets another layout)."""
        self._x.sync()
        if any(self._is_foreign(event) for event in self._x.fresh_events()):
            self._renew()
            self._x.sync()

    def _is_foreign(self, event: Any) -> bool:
        if event.type != X.MappingNotify:
            return False
        return not {event.first_keycode, event.first_keycode + event.count - 1} <= set(self._ours)

    def _bind(self, keysyms: Sequence[int]) -> None:
        pairs, reused = self._keymap.bind(keysyms)
        if reused and self._unread:
            self._pinger.wait_read()
            self._unread = False
        if pairs:
            self._change(pairs)
            self._unread = True

    def perform(self, event: Event) -> None:
        """Performs a keyboard event; ignores others."""
        if not isinstance(event, Type | Key | Hotkey):
            return
        self.notice_changes()
        if isinstance(event, Type):
            self._type(event.text)
        elif isinstance(event, Key):
            self._key(self._strokes([event.key])[0], down=event.down)
        else:
            for _ in range(event.times):
                self._hotkey(self._strokes(event.keys))

    def _strokes(self, keys: Sequence[str]) -> list[Stroke]:
        keysyms = [key_keysym(key) for key in keys]
        self._bind(keysyms)
        return [self._stroke_for(keysym) for keysym in keysyms]

    def _stroke_for(self, keysym: int) -> Stroke:
        stroke = self._keymap.find(keysym)
        if stroke is None:
            raise GuestError("failed", "the keyboard has no spare key left for this symbol")
        return stroke

    def _type(self, text: str) -> None:
        state = self._x.root.query_pointer().mask
        if state & _GROUP_BITS:
            raise GuestError("failed", "another keyboard group is active; switch back to the first layout")
        caps = named_keysym("Caps_Lock")
        locked = bool(state & X.LockMask)
        if locked:
            self._tap(self._stroke_for(caps))
        keysyms = [named_keysym(_CHAR_KEYS[char]) if char in _CHAR_KEYS else char_keysym(char) for char in text]
        for piece in chunks(self._keymap, keysyms):
            self._bind(piece)
            for keysym in piece:
                self._tap(self._stroke_for(keysym))
        if locked:
            self._tap(self._stroke_for(caps))

    def _fake(self, keycode: int, *, down: bool) -> None:
        xtest.fake_input(self._x.display, X.KeyPress if down else X.KeyRelease, keycode)

    def _tap(self, stroke: Stroke) -> None:
        self._key(stroke, down=True)
        self._key(stroke, down=False)

    def _key(self, stroke: Stroke, *, down: bool) -> None:
        if stroke.shift and down:
            self._fake(self._shift, down=True)
        self._fake(stroke.keycode, down=down)
        if stroke.shift and down:
            self._fake(self._shift, down=False)

    def _hotkey(self, strokes: Sequence[Stroke]) -> None:
        pressed: list[Stroke] = []
        try:
            for stroke in strokes:
                pressed.append(stroke)
                self._key(stroke, down=True)
        finally:
            for stroke in reversed(pressed):
                self._key(stroke, down=False)
