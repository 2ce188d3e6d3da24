"""Finds the control at a point and the focused one: with UI Automation, else with Win32."""

from ctypes import wintypes
from typing import Protocol

from guest_server.protocol.interaction_log import InteractionTarget
from guest_server.windows import handles
from guest_server.windows.a11y_tree import ControlInfo, GoneError
from guest_server.windows.api import user32
from guest_server.windows.com import ComError
from guest_server.windows.uia import Automation
from guest_server.windows.win32_controls import focused, is_editor

_LONGEST = 2000


class Controls(Protocol):
    """Used in one thread only."""

    def at(self, x: int, y: int) -> InteractionTarget:
        """The control at a point of the screen."""
        ...

    def focused(self) -> InteractionTarget:
        """The control with the focus."""
        ...


def controls() -> Controls:
    """The best implementation on this Windows; call it in the thread that uses it."""
    try:
        return UiaControls(Automation())
    except ComError:
        return Win32Controls()


class UiaControls:
    """Names of all controls, including those that are not windows."""

    def __init__(self, automation: Automation) -> None:
        self._automation = automation

    def at(self, x: int, y: int) -> InteractionTarget:
        """Empty if the control is gone meanwhile."""
        try:
            return _to_target(self._automation.control_info(self._automation.at(x, y)))
        except GoneError:
            return InteractionTarget(window=active_title())

    def focused(self) -> InteractionTarget:
        try:
            return _to_target(self._automation.control_info(self._automation.focused()))
        except GoneError:
            return InteractionTarget(window=active_title())


def _to_target(control: ControlInfo) -> InteractionTarget:
    return InteractionTarget(control=control.name.strip(), role=control.kind, rect=control.box, window=active_title())


class Win32Controls:
    """Texts of windows: a button is one, an item of a list is not."""

    def at(self, x: int, y: int) -> InteractionTarget:
        """The innermost window at the point."""
        return _of_window(int(user32.WindowFromPoint(wintypes.POINT(x, y)) or 0))

    def focused(self) -> InteractionTarget:
        """The window with keyboard focus."""
        return _of_window(focused())


def _of_window(window: int) -> InteractionTarget:
    if not window:
        return InteractionTarget(window=active_title())
    role = handles.class_name(window)
    text = "" if is_editor(role) else handles.text(window, _LONGEST) or ""
    return InteractionTarget(control=text.strip(), role=role, rect=handles.rectangle(window), window=active_title())


def active_title() -> str:
    """Title of the foreground window, empty if there is none."""
    window = user32.GetForegroundWindow()
    return handles.title(window) if window else ""
