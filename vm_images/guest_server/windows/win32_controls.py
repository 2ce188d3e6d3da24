"""Controls of Win32: every control is a window with a text. For helper processes only."""

import ctypes
from collections.abc import Sequence
from ctypes import wintypes

from guest_server.windows import handles
from guest_server.windows.a11y_tree import ControlInfo, GoneError
from guest_server.windows.api import user32

_LONGEST_TEXT = 100_000
_STYLE = -16
_TYPE_MASK, _READ_ONLY = 0x0F, 0x0800
_CHECKS = frozenset({2, 3, 4, 5, 6, 9})
_GET_CHECK, _CHECKED = 0x00F0, 1
_EDITORS = ("edit", "richedit")


class _Focus(ctypes.Structure):
    """GUITHREADINFO."""

    _fields_ = (
        ("size", wintypes.DWORD),
        ("flags", wintypes.DWORD),
        *((name, wintypes.HWND) for name in ("active", "focus", "capture", "menu", "moved", "caret")),
        ("box", wintypes.RECT),
    )


def focused() -> int:
    """The focused control, 0 if there is none."""
    info = _Focus(size=ctypes.sizeof(_Focus))
    thread = user32.GetWindowThreadProcessId(user32.GetForegroundWindow(), None)
    succeeded = user32.GetGUIThreadInfo(thread, ctypes.byref(info))
    return int(info.focus or info.active or 0) if succeeded else 0


def is_editor(name: str) -> bool:
    """Whether a class is an editor."""
    return name.lower().startswith(_EDITORS)


class Win32Source:
    """See `tree_windows.Source`; a node is a window's handle."""

    def __init__(self) -> None:
        self._front = int(user32.GetForegroundWindow() or 0)
        self._focus = focused()

    def windows(self) -> Sequence[int]:
        """Visible windows."""
        return [
            window for window in handles.top_level() if user32.IsWindowVisible(window) and not handles.cloaked(window)
        ]

    def children(self, node: int) -> Sequence[int]:
        """Topmost first."""
        return handles.children(node)

    def control_info(self, node: int) -> ControlInfo:
        """A control's text is its name; an editor's is its content."""
        name, text = handles.class_name(node), handles.text(node, _LONGEST_TEXT)
        if text is None:
            if not user32.IsWindow(node):
                raise GoneError
            text = handles.title(node)
        editor = is_editor(name)
        return ControlInfo(
            name="" if editor else text,
            tag=name,
            kind=name,
            text=text if editor else "",
            box=handles.rectangle(node),
            states=self._states(node, name),
        )

    def _states(self, node: int, name: str) -> dict[str, bool]:
        minimized, maximized = bool(user32.IsIconic(node)), bool(user32.IsZoomed(node))
        states = {
            "enabled": bool(user32.IsWindowEnabled(node)),
            "visible": bool(user32.IsWindowVisible(node)),
            "active": node == self._front,
            "minimized": minimized,
            "maximized": maximized,
            "normal": not minimized and not maximized,
            "unicode": bool(user32.IsWindowUnicode(node)),
            "focused": node == self._focus,
        }
        style = int(user32.GetWindowLongW(node, _STYLE))
        if name.lower() == "button" and style & _TYPE_MASK in _CHECKS:
            states |= {"checkable": True, "checked": handles.send(node, _GET_CHECK) == _CHECKED}
        if is_editor(name):
            states["editable"] = not style & _READ_ONLY
        return states
