"""Mouse and keyboard of a Windows desktop, with SendInput."""

import ctypes
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from ctypes import wintypes

from guest_server.protocol.errors import GuestError
from guest_server.protocol.input_events import (
    Button,
    Click,
    Drag,
    Event,
    Hotkey,
    Key,
    Move,
    Scroll,
    Type,
    points,
    read_events,
)
from guest_server.protocol.limits import GuestLimits
from guest_server.windows.api import failure, user32
from guest_server.windows.handles import class_name
from guest_server.windows.screen import GdiScreen
from guest_server.windows.virtual_keys import VIRTUAL_KEYS, absolute, is_extended, stroke, utf16

_MOUSE, _KEYBOARD = 0, 1
_MOVE, _ABSOLUTE, _WHEEL, _TILT = 0x0001, 0x8000, 0x0800, 0x1000
_DOWN = {"left": 0x0002, "right": 0x0008, "middle": 0x0020}
_UP = {"left": 0x0004, "right": 0x0010, "middle": 0x0040}
_EXTENDED, _RELEASE, _UNICODE = 1, 2, 4
_WHEEL_CLICK = 120
_TO_SCAN_CODE = 4
_STEP_SECONDS = 0.01
_ARRIVAL_SECONDS = 0.5
_UNITS_AT_ONCE = 50
_NO_KEY = 0xE8
_TYPED_KEYS = frozenset("\n\t\b")
_WINE_CONSOLE = "WineConsoleClass"
"""Wine's console windows accept keys only; Windows' own accept characters, too."""


class _MouseInput(ctypes.Structure):
    _fields_ = (
        ("dx", wintypes.LONG),
        ("dy", wintypes.LONG),
        ("data", wintypes.DWORD),
        ("flags", wintypes.DWORD),
        ("time", wintypes.DWORD),
        ("extra", ctypes.c_size_t),
    )


class _KeyboardInput(ctypes.Structure):
    _fields_ = (
        ("key", wintypes.WORD),
        ("scan", wintypes.WORD),
        ("flags", wintypes.DWORD),
        ("time", wintypes.DWORD),
        ("extra", ctypes.c_size_t),
    )


class _Union(ctypes.Union):
    _fields_ = (("mouse", _MouseInput), ("keyboard", _KeyboardInput))


class _Input(ctypes.Structure):
    _fields_ = (("kind", wintypes.DWORD), ("of", _Union))


class WindowsInput:
    """Performs events in order. Requests of several callers do not interleave."""

    def __init__(self, screen: GdiScreen) -> None:
        self._screen = screen
        self._lock = threading.Lock()

    def check(self, events: Sequence[Event]) -> None:
        """Refuses points off the screen; the edge itself (`x == width`) counts as its last pixel."""
        width, height = self._screen.width, self._screen.height
        for x, y in points(events):
            if not (0 <= x <= width and 0 <= y <= height):
                raise GuestError("off_screen", f"({x}, {y}) is not on the screen of {width}x{height} pixels")

    def perform(self, events: Sequence[Event]) -> None:
        """Performs them and returns when Windows has queued them."""
        with self._lock:
            point: tuple[int, int] | None = None
            for event in events:
                self._perform(event, point)
                point = (event.x, event.y) if isinstance(event, Move | Drag) else point

    def _perform(self, event: Event, point: tuple[int, int] | None) -> None:
        """Performs one. `place`: where the request has moved the pointer before, if it has."""
        if isinstance(event, Move):
            self._move(event.x, event.y, event.duration)
        elif isinstance(event, Button):
            _send([self._button((_DOWN if event.down else _UP)[event.button], point)])
        elif isinstance(event, Click):
            flags = [both[event.button] for _ in range(event.num) for both in (_DOWN, _UP)]
            _send([self._button(flag, point) for flag in flags])
        elif isinstance(event, Drag):
            _send([_mouse(_DOWN[event.button])])
            self._move(event.x, event.y, event.duration)
            _send([_mouse(_UP[event.button])])
        elif isinstance(event, Scroll):
            _scroll(event)
        else:
            _perform_key(event)

    def _button(self, flag: int, point: tuple[int, int] | None) -> _Input:
        """A button at its position: on Wine an earlier move may still be pending in the X server."""
        if point is None:
            return _mouse(flag)
        return _mouse(flag | _MOVE | _ABSOLUTE, *self._absolute(*point))

    def _absolute(self, x: int, y: int) -> tuple[int, int]:
        return absolute(x, self._screen.width), absolute(y, self._screen.height)

    def _move(self, x: int, y: int, duration: float) -> None:
        """In a straight line, and returns when the pointer has arrived."""
        left, top = self._screen.pointer()
        steps = max(1, round(duration / _STEP_SECONDS))
        for step in range(1, steps + 1):
            self._place(left + (x - left) * step // steps, top + (y - top) * step // steps)
            if step < steps:
                time.sleep(duration / steps)
        self._wait_arrival(min(x, self._screen.width - 1), min(y, self._screen.height - 1))

    def _place(self, x: int, y: int) -> None:
        _send([_mouse(_MOVE | _ABSOLUTE, *self._absolute(x, y))])

    def _wait_arrival(self, x: int, y: int) -> None:
        """Windows moves the pointer in its own thread; a program may also confine it to its window."""
        deadline = time.monotonic() + _ARRIVAL_SECONDS
        while self._screen.pointer() != (x, y) and time.monotonic() < deadline:
            user32.SetCursorPos(x, y)
            time.sleep(_STEP_SECONDS)


def _send(inputs: Sequence[_Input]) -> None:
    """All at once: a person's input comes before or after."""
    if not inputs:
        return
    batch = (_Input * len(inputs))(*inputs)
    if user32.SendInput(len(inputs), batch, ctypes.sizeof(_Input)) != len(inputs):
        raise failure("Windows did not take the input; its screen may be locked")


def _mouse(flags: int, x: int = 0, y: int = 0, data: int = 0) -> _Input:
    event = _Input(kind=_MOUSE)
    event.of.mouse = _MouseInput(dx=x, dy=y, data=data & 0xFFFFFFFF, flags=flags)
    return event


def _scroll(event: Scroll) -> None:
    """Notch by notch: programs distinguish a wheel from a touch pad by the amount."""
    for amount, flag in ((event.dy, _WHEEL), (event.dx, _TILT)):
        step = _WHEEL_CLICK if amount > 0 else -_WHEEL_CLICK
        _send([_mouse(flag, data=step) for _ in range(abs(amount))])


def _key(key: int, *, release: bool = False) -> _Input:
    """A virtual key, with the scan code of its keyboard."""
    scan = user32.MapVirtualKeyExW(key, _TO_SCAN_CODE, None) & 0xFF
    flags = (_EXTENDED if is_extended(key) else 0) | (_RELEASE if release else 0)
    event = _Input(kind=_KEYBOARD)
    event.of.keyboard = _KeyboardInput(key=key, scan=scan, flags=flags)
    return event


def _units(text: str, *, down: bool = True, up: bool = True) -> list[_Input]:
    """Characters, independent of layout and Caps Lock."""
    parts = []
    for unit in utf16(text):
        for flags in ([_UNICODE] if down else []) + ([_UNICODE | _RELEASE] if up else []):
            event = _Input(kind=_KEYBOARD)
            event.of.keyboard = _KeyboardInput(key=0, scan=unit, flags=flags)
            parts.append(event)
    return parts


def _type(text: str) -> None:
    inputs: list[_Input] = []
    keyed = class_name(user32.GetForegroundWindow()) == _WINE_CONSOLE
    for char in text:
        if char in _TYPED_KEYS:
            inputs += [_key(VIRTUAL_KEYS[char]), _key(VIRTUAL_KEYS[char], release=True)]
        elif keyed:
            inputs += [*_press(char), *_release(char)]
        else:
            inputs += _units(char)
    for batch in _batches(inputs, 2 * _UNITS_AT_ONCE):
        _send(batch)


def perform_keyboard(event: Mapping[str, str]) -> str:
    """Performs one keyboard event of `/input` in the calling process; returns the kind of the error, empty without."""
    try:
        for part in read_events([dict(event)], GuestLimits()):
            _perform_key(part)
    except GuestError as error:
        return error.kind
    return ""


def _perform_key(event: Event) -> None:
    if isinstance(event, Type):
        _type(event.text)
    elif isinstance(event, Key):
        _send(_press(event.key) if event.down else _release(event.key))
    elif isinstance(event, Hotkey):
        for _ in range(event.times):
            _send([part for key in event.keys for part in _press(key)])
            _send([part for key in reversed(event.keys) for part in _release(key)])


def nudge() -> None:
    """Input without effect: Windows lets the program with the last input bring windows to the front."""
    _send([_key(_NO_KEY), _key(_NO_KEY, release=True)])


def _batches(inputs: list[_Input], size: int) -> Iterable[list[_Input]]:
    """In batches: a program's queue has room for 10,000 messages."""
    return (inputs[start : start + size] for start in range(0, len(inputs), size))


def _strokes(name: str) -> tuple[int, ...]:
    """Virtual keys in order of presses; empty for a character without a key."""
    if name in VIRTUAL_KEYS:
        return (VIRTUAL_KEYS[name],)
    layout = user32.GetKeyboardLayout(user32.GetWindowThreadProcessId(user32.GetForegroundWindow(), None))
    keys = stroke(user32.VkKeyScanExW(name, layout)) if len(utf16(name)) == 1 else None
    return () if keys is None else (*keys[1], keys[0])


def _press(name: str) -> list[_Input]:
    keys = _strokes(name)
    return [_key(key) for key in keys] if keys else _units(name, up=False)


def _release(name: str) -> list[_Input]:
    keys = _strokes(name)
    return [_key(key, release=True) for key in reversed(keys)] if keys else _units(name, down=False)
