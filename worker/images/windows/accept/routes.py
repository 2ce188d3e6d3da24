"""Requests every route of the guest API once on a fresh desktop and checks the response.

Side effects do not matter: the desktop is discarded. A test checks that every route of docs/internals/guest-api.md is
covered.
"""

import io
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from PIL import Image

from backend.domain.errors import GuestRefused
from backend.domain.model.trajectory import Action, ActionType
from backend.domain.ports.desktop import Desktop
from worker.images.checks import CheckResult, answers

Ask = Callable[[Desktop, "DesktopPaths"], None]


class DesktopPaths(NamedTuple):
    """Folder of our files on the desktop, and a program that shows a window.

    Attributes:
        folder: ends with the system's separator.
        program: program and title of its window.
    """

    folder: str
    program: str
    window: str


WINDOWS = DesktopPaths("C:\\Users\\Public\\deskarena-accept\\", "notepad", "Notepad")
_FILE, _WORDS = "words.txt", "accepted \u00e4\u6587\n"


class Route(NamedTuple):
    """A route as documented, and its request.

    Attributes:
        windows: whether it exists on Windows only.
    """

    name: str
    ask: Ask
    windows: bool = False


def _want(condition: object, problem: str) -> None:
    if not condition:
        raise GuestRefused(problem, kind="failed")


def _call(
    method: str, route: str, payload: Callable[[DesktopPaths], dict[str, Any]] = lambda _: {}, *, key: str = ""
) -> Route:
    """A route that returns JSON or text; `key` must be in the response."""

    def ask(desktop: Desktop, paths: DesktopPaths) -> None:
        reply = desktop.call(method, route, payload(paths))
        _want(
            not key or (isinstance(reply, dict) and key in reply), (f"it returns {str(reply)[:200]!r}, without {key!r}")
        )

    return Route(f"{method} {route}", ask)


def _windows_only(route: Route) -> Route:
    return route._replace(windows=True)


def _says_no(method: str, route: str, payload: Callable[[DesktopPaths], dict[str, Any]]) -> Route:
    """A route that answers a question with 400 for no."""

    def ask(desktop: Desktop, paths: DesktopPaths) -> None:
        try:
            desktop.call(method, route, payload(paths))
        except GuestRefused as error:
            _want(error.kind in {"not_found", "no"}, f"it refuses: {error}")

    return Route(f"{method} {route}", ask)


def _refuse(route: str, kind: str) -> Route:
    """A route that gives the reason for doing nothing."""

    def ask(desktop: Desktop, _: DesktopPaths) -> None:
        try:
            desktop.call("POST", route)
        except GuestRefused as error:
            _want(error.kind == kind, f"it refuses: {error}")
        else:
            _want(condition=False, problem="it does not refuse")

    return Route(f"POST {route}", ask)


def _check(route: str, payload: Callable[[DesktopPaths], dict[str, Any]]) -> Route:
    """A check of WindowsAgentArena: only yes and no are valid."""
    return _windows_only(_says_no("POST", route, payload))


def _picture(desktop: Desktop, _: DesktopPaths) -> None:
    frame = desktop.screenshot()
    picture = Image.open(io.BytesIO(frame.data))
    _want(picture.size == (desktop.screen.width, desktop.screen.height), f"the picture has {picture.size}")
    _want(picture.convert("L").getextrema() != (0, 0), "the screen is black")


def _input(desktop: Desktop, _: DesktopPaths) -> None:
    desktop.perform(Action(type=ActionType.MOVE_TO, x=33, y=44))
    _want(list(desktop.call("GET", "/cursor_position"))[:2] == [33, 44], ("the pointer is not where it was moved"))


def _clipboard(desktop: Desktop, _: DesktopPaths) -> None:
    desktop.call("POST", "/clipboard", {"text": _WORDS})
    _want(desktop.clipboard() == _WORDS, "the clipboard has other content")


def _upload(desktop: Desktop, paths: DesktopPaths) -> None:
    desktop.write_file(paths.folder + _FILE, _WORDS.encode())
    _want(desktop.read_file(paths.folder + _FILE) == _WORDS.encode(), "the file has other content")


def _window(desktop: Desktop, paths: DesktopPaths) -> None:
    desktop.open_file(paths.folder + _FILE)
    desktop.activate_window(_FILE)
    _want(any(_FILE in window.title and window.active for window in desktop.windows()), ("its window is not active"))


def _place_window(desktop: Desktop, _: DesktopPaths) -> None:
    box = {"x": 60, "y": 70, "width": 640, "height": 480}
    desktop.call("POST", "/setup/place_window", {"window_name": _FILE, **box})


def _close_window(desktop: Desktop, _: DesktopPaths) -> None:
    desktop.close_window(_FILE)


def _code(desktop: Desktop, _: DesktopPaths) -> None:
    _want(desktop.run_python("print(6 * 7)").output.strip() == "42", "Python returned a wrong result")


def _wallpaper(desktop: Desktop, _: DesktopPaths) -> None:
    try:
        desktop.wallpaper()
    except GuestRefused as error:
        _want(error.kind == "not_found", f"it refuses: {error}")


def _record_screen(desktop: Desktop, _: DesktopPaths) -> None:
    desktop.call("POST", "/start_recording")
    try:
        desktop.call("POST", "/end_recording")
    except GuestRefused as error:
        # The video is binary, not JSON: only its arrival is checked.
        _want("video/" in str(error), f"it refuses: {error}")


ROUTES = (
    Route("GET /probe", lambda desktop, _: _want(bool(desktop.probe().platform), "no platform")),
    Route("GET /health", lambda desktop, _: _want(bool(desktop.health().disks), "no disk")),
    _call("GET", "/platform"),
    Route("GET /screenshot", _picture),
    Route("GET /frame", lambda desktop, _: _want(desktop.frame(quality=70).data, "the frame is empty")),
    Route("GET /stable", lambda desktop, _: _want(desktop.wait_stable(quiet=0.2, timeout=5) >= 0, "no time")),
    _call("POST", "/screen_size", key="width"),
    _call("GET", "/cursor_position"),
    Route("GET /accessibility", lambda desktop, _: _want("<" in desktop.accessibility_tree(), "it is empty")),
    _call("GET", "/terminal", key="output"),
    _call("GET", "/text_cursor", key="line"),
    Route("POST /input", _input),
    Route("GET /clipboard", lambda desktop, _: _want(desktop.clipboard() is not None, "no text")),
    Route("POST /clipboard", _clipboard),
    Route("GET /interactions", lambda desktop, _: _want(desktop.interactions() is not None, "no list")),
    Route("POST /setup/upload", _upload),
    Route("POST /file", _upload),
    Route("POST /setup/open_file", _window),
    Route("GET /windows", lambda desktop, _: _want(len(desktop.windows()) > 0, "no window")),
    Route("POST /setup/activate_window", _window),
    Route("POST /setup/place_window", _place_window),
    Route("POST /setup/close_window", _close_window),
    _call("POST", "/execute", lambda _: {"command": ["hostname"]}, key="returncode"),
    _call("POST", "/setup/execute", lambda _: {"command": "echo 1", "shell": True}, key="output"),
    _call("POST", "/execute_with_verification",
          lambda _: {"command": ["hostname"], "verification": {"command_success": "hostname"}}, key="verification"),
    _call("POST", "/setup/execute_with_verification",
          lambda _: {"command": ["hostname"], "verification": {"command_success": "hostname"}}, key="verification"),
    Route("POST /run_python", _code),
    Route("POST /setup/launch", lambda desktop, paths: desktop.launch([paths.program])),
    _call("POST", "/list_directory", lambda paths: {"path": paths.folder}, key="directory_tree"),
    _call("POST", "/desktop_path", key="desktop_path"),
    _call("POST", "/documents_path", key="documents_path"),
    _call("POST", "/setup/create_folder", lambda paths: {"path": f"{paths.folder}made"}),
    _call("POST", "/setup/create_file", lambda paths: {"path": f"{paths.folder}made.txt", "content": "x"}),
    _says_no("POST", "/folder_exists", lambda paths: {"path": paths.folder, "folder_name": "made"}),
    _says_no("POST", "/file_exists", lambda paths: {"path": paths.folder, "file_name": "made.txt"}),
    _call("POST", "/setup/recycle", lambda paths: {"path": f"{paths.folder}made.txt"}),
    Route("POST /wallpaper", _wallpaper),
    Route("POST /start_recording", _record_screen),
    Route("POST /end_recording", _record_screen),
    _call("POST", "/setup/close_all"),
    _call("POST", "/settled"),
    _windows_only(_call("POST", "/execute_windows", lambda _: {"command": "print('hello')"}, key="status")),
    _windows_only(_call("POST", "/update_computer", lambda _: {"rects": {}, "scale": 1}, key="success")),
    _windows_only(_call("GET", "/obs_winagent", key="window_names_str")),
    _windows_only(_call("POST", "/setup/clear_task_files")),
    _windows_only(_refuse("/save_state", "not_available")),
    _windows_only(_refuse("/revert_to_snapshot", "not_available")),
    _check("/is_details_view", lambda _: {"path": "C:\\Windows"}),
    _check("/are_files_sorted_by_modified_time", lambda _: {"directory": "C:\\Windows"}),
    _check("/is_directory_read_only_for_user", lambda _: {"directory": "C:\\Windows", "user": "Guest"}),
    _check("/are_all_images_tagged", lambda paths: {"directory": paths.folder, "tag": "x"}),
    _windows_only(_call("POST", "/library_folders", lambda _: {"library_name": "Documents"}, key="output")),
    _check("/check_if_timer_started", lambda _: {"hours": "0", "minutes": "30", "seconds": "0"}),
    _check("/check_if_world_clock_exists", lambda _: {"city": "Munich", "country": "Germany"}),
)  # fmt: skip

ELSEWHERE = {
    "POST /secret": "boot: a new desktop gets another secret",
    "POST /restored": "resets: each clone is resumed with it",
    "GET /egress": "resets: workers open tunnels in advance",
    "GET /tunnel/{port}": "tasks: browsers are reached through it",
    "GET /stream": "tasks: live view",
    "GET /limits": "tasks: what a desktop that ended has reached",
    "POST /window_size": "X11 only",
    "POST /run_bash_script": "Linux only",
    "POST /setup/download_file": "tasks: files come through the gateway",
    "POST /setup/change_wallpaper": "tasks: needs a picture",
    "POST /trust": "tasks: the gateway's certificate",
    "POST /shutdown": "end",
}
"""Routes that are not requested here -> where they are tested, or why not."""


def ask_all(desktop: Desktop, paths: DesktopPaths, *, windows: bool = True) -> Iterator[CheckResult]:
    """Requests all in order. Never raises: if the desktop is gone, each remaining line says so."""
    for route in ROUTES:
        if windows or not route.windows:
            yield answers(route.name, lambda route=route: route.ask(desktop, paths))  # type: ignore[misc]
