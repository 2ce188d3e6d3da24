"""Top-level windows of a Windows desktop."""

import os
import time
from collections.abc import Callable, Collection

from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import Placement, WindowInfo
from guest_server.windows import handles
from guest_server.windows.api import kernel32, user32
from guest_server.windows.input import nudge

_STYLE, _EX_STYLE = -16, -20
_CAPTION, _TOOL, _APP, _NOT_ACTIVATED = 0x00C00000, 0x00000080, 0x00040000, 0x08000000
_MAXIMIZE, _SHOW, _MINIMIZE, _RESTORE = 3, 5, 6, 9
_CLOSE = 0x0010
_NO_SIZE, _NO_MOVE, _NO_ORDER, _NOT_ACTIVE, _ASYNC = 0x01, 0x02, 0x04, 0x10, 0x4000
_TERMINATE = 0x0001
_CHANGE_SECONDS, _STILL_SECONDS, _LOOK_SECONDS = 2.0, 0.1, 0.02

SHELL_CLASSES = frozenset(
    {"Progman", "WorkerW", "Shell_TrayWnd", "Shell_SecondaryTrayWnd", "NotifyIconOverflowWindow", "DV2ControlHost"}
    | {"Windows.UI.Core.CoreWindow", "XamlExplorerHostIslandWindow", "TopLevelWindowForOverflowXamlIsland"}
)
"""Windows of the desktop itself: the background, the taskbar, the start menu."""
_FRAME_OF_APPS, _APP_INSIDE = "ApplicationFrameWindow", "Windows.UI.Core.CoreWindow"


def is_application(name: str, title: str, style: int, ex_style: int) -> bool:
    """Whether a visible window is an application window.

    Args:
        name: its class.
        title: its title.
        style: its Windows style flags.
        ex_style: its extended style flags.
    """
    if name in SHELL_CLASSES:
        return False
    if ex_style & (_TOOL | _NOT_ACTIVATED) and not ex_style & _APP:
        return False
    return bool(title) or style & _CAPTION == _CAPTION


class WindowsWindows:
    """Lists and commands windows.

    `wm_class` is the program's name and the window's class: `notepad.Notepad`.
    """

    def __init__(self, hidden: Collection[int] = ()) -> None:
        """Args: hidden: processes whose windows are hidden: our own."""
        self._hidden = {os.getpid(), *hidden}

    def all(self) -> list[WindowInfo]:
        """All application windows, bottom to top."""
        active = user32.GetForegroundWindow()
        windows = [self._describe_window(window, active) for window in handles.top_level()]
        return [window for window in reversed(windows) if window is not None]

    def _describe_window(self, window: int, active: int | None) -> WindowInfo | None:
        if not user32.IsWindowVisible(window) or handles.cloaked(window):
            return None
        name, title = handles.class_name(window), handles.title(window)
        style, ex_style = user32.GetWindowLongW(window, _STYLE), user32.GetWindowLongW(window, _EX_STYLE)
        process = _process_behind(window, name)
        if process in self._hidden or not is_application(name, title, style, ex_style):
            return None
        x, y, width, height = handles.visible_rectangle(window)
        return WindowInfo(
            id=window,
            title=title,
            wm_class=f"{handles.program_of(process)}.{name}",
            x=x,
            y=y,
            width=width,
            height=height,
            active=window == active,
            minimized=bool(user32.IsIconic(window)),
            pid=process or None,
        )

    def activate(self, window: WindowInfo) -> bool:
        """Raises and focuses the window, also if it is minimised."""
        if user32.IsIconic(window.id):
            user32.ShowWindowAsync(window.id, _RESTORE)
        if _until(lambda: _to_front(window.id)):
            return True
        # Windows does not bring some programs to the front; a restored window gets there by itself.
        user32.ShowWindowAsync(window.id, _MINIMIZE)
        user32.ShowWindowAsync(window.id, _RESTORE)
        return _until(lambda: _is_front(window.id))

    def place(self, window: WindowInfo, placement: Placement) -> WindowInfo | None:
        """Maximises the window, or sets its position and size."""
        if placement.maximized:
            user32.ShowWindowAsync(window.id, _MAXIMIZE)
            return self._await_stable(window)
        if user32.IsIconic(window.id) or user32.IsZoomed(window.id):
            user32.ShowWindowAsync(window.id, _RESTORE)
            self._await_stable(window)
        box = placed_box(placement, handles.visible_rectangle(window.id), handles.rectangle(window.id))
        moves = 0 if placement.x is not None or placement.y is not None else _NO_MOVE
        sizes = 0 if placement.width is not None or placement.height is not None else _NO_SIZE
        user32.SetWindowPos(window.id, None, *box, moves | sizes | _NO_ORDER | _NOT_ACTIVE | _ASYNC)
        return self._await_stable(window)

    def _await_stable(self, window: WindowInfo) -> WindowInfo | None:
        """The window once it is stable: a program may adjust a new size."""
        deadline, before = time.monotonic() + _CHANGE_SECONDS, None
        while True:
            time.sleep(_STILL_SECONDS)
            now = self._describe_window(window.id, user32.GetForegroundWindow()) if user32.IsWindow(window.id) else None
            if now is None or now == before or time.monotonic() >= deadline:
                return now
            before = now

    def close(self, window: WindowInfo) -> None:
        """Asks the window to close; it may show a dialog."""
        user32.PostMessageW(window.id, _CLOSE, 0, 0)

    def kill(self, window: WindowInfo) -> None:
        """Ends the window's program; never the desktop's own, which also shows folders."""
        shell = handles.process_of(user32.GetShellWindow() or 0)
        if window.pid is None or window.pid == shell:
            self.close(window)
            return
        with handles.process_handle(window.pid, _TERMINATE) as process:
            if process is not None and not kernel32.TerminateProcess(process, 1):
                raise GuestError("failed", f"Windows does not let '{window.title}' be ended")


def placed_box(placement: Placement, visible: handles.Box, whole: handles.Box) -> handles.Box:
    """Arguments of SetWindowPos that put the visible part of a window at the requested place.

    Args:
        placement: left, top, width and height of the visible part; None keeps the current value.
        visible: its current visible part.
        whole: its current rectangle with the invisible border.
    """
    target = (placement.x, placement.y, placement.width, placement.height)
    aims = [now if aim is None else aim for aim, now in zip(target, visible, strict=True)]
    x, y, width, height = (aim + outer - inner for aim, outer, inner in zip(aims, whole, visible, strict=True))
    return x, y, max(1, width), max(1, height)


def _process_behind(window: int, name: str) -> int:
    """The program's own process: Windows frames all store apps' windows by one program."""
    if name == _FRAME_OF_APPS:
        for child in handles.children(window):
            if handles.class_name(child) == _APP_INSIDE:
                return handles.process_of(child)
    return handles.process_of(window)


def _is_front(window: int) -> bool:
    front = user32.GetForegroundWindow()
    # A program with a dialog gives the focus to it.
    return bool(front) and (front == window or handles.root_owner(front) == window)


def _to_front(window: int) -> bool:
    """Brings a window to the front after an input, which Windows requires."""
    if _is_front(window):
        return True
    nudge()
    front = user32.GetWindowThreadProcessId(user32.GetForegroundWindow(), None)
    own = kernel32.GetCurrentThreadId()
    joined = bool(front) and front != own and user32.AttachThreadInput(own, front, True)  # noqa: FBT003
    try:
        user32.BringWindowToTop(window)
        user32.SetForegroundWindow(window)
    finally:
        if joined:
            user32.AttachThreadInput(own, front, False)  # noqa: FBT003
    return _is_front(window)


def _until(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + _CHANGE_SECONDS
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(_LOOK_SECONDS)
    return True
