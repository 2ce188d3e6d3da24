"""A desktop in memory: windows with text, files, a clipboard and a pointer, drawn into real pictures.

Enough of a machine that the loop, set-up, getters and agents can be tried without one: typing goes to the focused
window, Ctrl+S writes its file, clicks raise windows, commands run from a table, and it can die.
"""

import base64
import hashlib
import io
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import quoteattr

from PIL import Image, ImageDraw

from backend.domain.errors import GuestLost, GuestRefused
from backend.domain.machines.health import DesktopHealth, DiskRoom
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import GUEST_CALLS, Action, ActionType, Frame, GuestCall, Interaction, Window
from backend.domain.ports.desktop import ExecResult, Probe
from tests.factories.health import health_of
from tests.fakes.clock import FakeClock

Command = Callable[[Sequence[str]], ExecResult]
_KEYS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789") | {
    "alt", "backspace", "ctrl", "delete", "down", "end", "enter", "esc", "f4", "home", "left", "return", "right",
    "shift", "space", "tab", "up", "win",
}  # fmt: skip
_TYPED = {"enter": "\n", "return": "\n", "space": " ", "tab": "\t"}


@dataclass
class FakeWindow:
    """An open window; `path` is the file that Ctrl+S writes."""

    title: str
    wm_class: str = "fake"
    x: int = 40
    y: int = 40
    width: int = 400
    height: int = 200
    text: str = ""
    path: str = ""


class FakeDesktop:
    """A machine that lives in this object.

    Attributes:
        files: path to bytes.
        open_windows: bottom to top; the last one has the focus.
        performed: actions that were carried out.
        log: what `interactions` tells: every click and key, from the beginning.
        commands: program name to what it does; `echo`, `cat`, `true`, `false` and `rm` are there.
        on_perform: called with each action before it is carried out; may raise, or kill the desktop.
        still_moving: seconds for which the screen goes on changing after an action.
        platform: `Linux` or `Windows`.
        time: the guest's clock, seconds since 1970; None = this machine's.
        routes: (method, route) to what the guest API answers there, or a function of the payload that may raise.
        registry: (key, value's name) to (type, data) as `reg query` shows them; for `Windows`.
        picture: the wallpaper as PNG; None = a plain colour.
        ailing: facts of its health that are not those of a healthy desktop.
        patience: how many times as long as usual its programs may take.
        tree: the accessibility tree; None = one of the open windows.
    """

    def __init__(self, screen: ScreenSize | None = None, clock: FakeClock | None = None) -> None:
        self.platform = "Linux"
        self.time: float | None = None
        self.routes: dict[tuple[str, str], Any] = {}
        self.registry: dict[tuple[str, str], tuple[str, str]] = {}
        self.picture: bytes | None = None
        self.tree: str | None = None
        self._screen = screen or ScreenSize(width=640, height=480)
        self.clock = clock or FakeClock()
        self.files: dict[str, bytes] = {}
        self.open_windows: list[FakeWindow] = []
        self.log: list[Interaction] = []
        self.performed: list[Action] = []
        self.pointer = (self._screen.width // 2, self._screen.height // 2)
        self.clipboard_text = ""
        self.still_moving = 0.0
        self.on_perform: Callable[[Action], None] | None = None
        self.commands: dict[str, Command] = {
            "echo": lambda words: ExecResult(returncode=0, output=" ".join(words) + "\n"),
            "cat": self._cat,
            "rm": self._rm,
            "true": lambda _: ExecResult(returncode=0),
            "false": lambda _: ExecResult(returncode=1),
            "reg": self._reg,
        }
        self.dead = ""
        self.ailing: dict[str, Any] = {}
        self.patience = 1.0

    def die(self, reason: str = "killed") -> None:
        """From now on nothing answers."""
        self.dead = reason

    @property
    def screen(self) -> ScreenSize:
        return self._screen

    def probe(self) -> Probe:
        self._alive()
        clock = time.time() if self.time is None else self.time
        return Probe(api="1", platform=self.platform, screen=self._screen, capabilities=("a11y",), clock=clock)

    def health(self) -> DesktopHealth:
        self._alive()
        return health_of(self._screen, platform=self.platform, **self.ailing)

    def disks(self) -> Sequence[DiskRoom]:
        return self.health().disks

    def frame(self, *, quality: int = 85) -> Frame:
        return self._picture("JPEG", "image/jpeg", quality=quality)

    def screenshot(self) -> Frame:
        return self._picture("PNG", "image/png")

    def accessibility_tree(self) -> str:
        self._alive()
        if self.tree is not None:
            return self.tree
        nodes = "".join(
            f"<application name={quoteattr(w.wm_class)}><frame name={quoteattr(w.title)}>"
            f"<text name={quoteattr(w.text)}/></frame></application>"
            for w in self.open_windows
        )
        return f"<desktop-frame>{nodes}</desktop-frame>"

    def windows(self) -> Sequence[Window]:
        self._alive()
        return [
            Window(
                title=w.title, wm_class=w.wm_class, x=w.x, y=w.y, width=w.width, height=w.height,
                active=w is self.open_windows[-1],
            )
            for w in self.open_windows
        ]  # fmt: skip

    def clipboard(self) -> str:
        self._alive()
        return self.clipboard_text

    def perform(self, action: Action) -> Mapping[str, Any]:
        self._alive()
        if self.on_perform is not None:
            self.on_perform(action)
            self._alive()
        self._check_keys(action)
        self.performed.append(action)
        if action.x is not None and action.y is not None:
            self.pointer = (action.x, action.y)
        self._log(action)
        if action.type is ActionType.PYTHON:
            return self.run_python(action.text).model_dump()
        if action.type in GUEST_CALLS:
            return self._guest_call(action, action.guest or GuestCall())
        self._input(action)
        return {}

    def wait_stable(self, *, quiet: float, timeout: float) -> float:
        self._alive()
        waited = min(timeout, self.still_moving + quiet)
        self.still_moving = max(0.0, self.still_moving - waited)
        self.clock.sleep(waited)
        return waited

    def execute(self, command: str | Sequence[str], *, shell: bool = False, timeout: float = 120.0) -> ExecResult:
        self._alive()
        words = shlex.split(command) if isinstance(command, str) else list(command)
        if not words or words[0] not in self.commands:
            raise GuestRefused(f"no such program: {words[:1]}", kind="not_found")
        return self.commands[words[0]](words[1:])

    def run_python(self, code: str, *, timeout: float = 30.0) -> ExecResult:
        self._alive()
        if "python" not in self.commands:
            return ExecResult(returncode=0)
        return self.commands["python"]([code])

    def launch(self, command: str | Sequence[str], *, shell: bool = False) -> None:
        self._alive()
        words = shlex.split(command) if isinstance(command, str) else list(command)
        if len(words) > 1 and words[1] in self.files:
            self.open_file(words[1])
        else:
            self.open_windows.append(FakeWindow(title=words[0].rsplit("/", 1)[-1], wm_class=words[0]))

    def open_file(self, path: str) -> None:
        text = self.read_file(path).decode(errors="replace")
        self.open_windows.append(FakeWindow(title=path.rsplit("/", 1)[-1], wm_class="editor", text=text, path=path))

    def activate_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> None:
        window = self._find(name, strict=strict, by_class=by_class)
        self.open_windows.remove(window)
        self.open_windows.append(window)

    def close_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> None:
        self.open_windows.remove(self._find(name, strict=strict, by_class=by_class))

    def read_file(self, path: str, *, max_bytes: int = 256 * 2**20) -> bytes:
        self._alive()
        if path not in self.files:
            raise GuestRefused(f"no such file: {path}", kind="not_found")
        if len(self.files[path]) > max_bytes:
            raise GuestRefused(f"{path} is larger than {max_bytes} bytes", kind="too_large")
        return self.files[path]

    def write_file(self, path: str, data: bytes) -> None:
        self._alive()
        self.files[path] = data

    def wallpaper(self) -> bytes:
        self._alive()
        if self.picture is None:
            raise GuestRefused("the desktop shows a plain colour and no picture", kind="not_found")
        return self.picture

    def interactions(self, since: int = 0) -> Sequence[Interaction]:
        self._alive()
        return [entry for entry in self.log if entry.number > since][:1000]

    def call(self, method: str, route: str, payload: Mapping[str, Any] | None = None) -> Any:
        self._alive()
        if (method, route) == ("GET", "/platform"):
            return self.platform
        if (method, route) not in self.routes:
            raise GuestRefused("there is no such route; docs/internals/guest-api.md lists them", kind="not_found")
        answer = self.routes[method, route]
        return answer(dict(payload or {})) if callable(answer) else answer

    def _log(self, action: Action) -> None:
        number, window = len(self.log) + 1, self.open_windows[-1] if self.open_windows else None
        title = window.title if window is not None else ""
        if action.type is ActionType.CLICK:
            under = self._under_pointer()
            x, y = self.pointer
            name = under.title if under is not None else ""
            entry = Interaction(number=number, kind="click", button=action.button, x=x, y=y, control=name, window=title)
        elif action.type is ActionType.TYPING:
            entry = Interaction(number=number, kind="type", text=action.text, control=title, window=title)
        elif action.type in {ActionType.PRESS, ActionType.HOTKEY}:
            keys = "{" + "+".join(action.keys).lower() + "}"
            entry = Interaction(number=number, kind="type", text=keys, control=title, window=title)
        else:
            return
        self.log.append(entry)

    def _guest_call(self, action: Action, call: GuestCall) -> Mapping[str, Any]:
        if action.type is ActionType.SCRIPT:
            if call.language not in self.commands:
                raise GuestRefused(f"this desktop has no {call.language}", kind="not_available")
            return self.commands[call.language]([action.text]).model_dump()
        if action.type is ActionType.WRITE_FILE:
            self.write_file(call.path, base64.b64decode(call.data))
        data = self.files.get(call.path)
        if data is None:
            return {"returncode": 1, "output": "", "error": f"FileNotFoundError: {call.path}"}
        content = {} if action.type is ActionType.WRITE_FILE else {"data": base64.b64encode(data).decode()}
        return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest(), **content}

    def _alive(self) -> None:
        if self.dead:
            raise GuestLost(f"the desktop is gone: {self.dead}", code="desktop_gone")

    @staticmethod
    def _check_keys(action: Action) -> None:
        unknown = [key for key in action.keys if key.lower() not in _KEYS]
        if unknown:
            raise GuestRefused(f"unknown key {unknown[0]!r}", kind="unknown_key")

    def _input(self, action: Action) -> None:
        window = self.open_windows[-1] if self.open_windows else None
        if action.type is ActionType.CLICK and self._under_pointer() is not None:
            self.activate_window(self._under_pointer().title, strict=True)  # type: ignore[union-attr]
        elif window is None:
            return
        elif action.type is ActionType.TYPING:
            window.text += action.text
        elif action.type is ActionType.PRESS:
            key = action.keys[0].lower()
            window.text = window.text[:-1] if key == "backspace" else window.text + _TYPED.get(key, "")
        elif action.type is ActionType.HOTKEY:
            self._hotkey(window, tuple(key.lower() for key in action.keys))

    def _hotkey(self, window: FakeWindow, keys: tuple[str, ...]) -> None:
        if keys == ("ctrl", "s") and window.path:
            self.files[window.path] = window.text.encode()
        elif keys == ("ctrl", "c"):
            self.clipboard_text = window.text
        elif keys == ("ctrl", "v"):
            window.text += self.clipboard_text
        elif keys == ("alt", "f4"):
            self.open_windows.remove(window)

    def _under_pointer(self) -> FakeWindow | None:
        x, y = self.pointer
        over = [w for w in self.open_windows if w.x <= x < w.x + w.width and w.y <= y < w.y + w.height]
        return over[-1] if over else None

    def _find(self, name: str, *, strict: bool, by_class: bool) -> FakeWindow:
        self._alive()
        for window in self.open_windows:
            shown = window.wm_class if by_class else window.title
            if shown == name or (not strict and name.lower() in shown.lower()):
                return window
        raise GuestRefused(f"no window called {name!r}", kind="not_found")

    def _picture(self, form: str, media_type: str, **options: Any) -> Frame:
        self._alive()
        image = Image.new("RGB", (self._screen.width, self._screen.height), (30, 60, 90))
        pen = ImageDraw.Draw(image)
        for window in self.open_windows:
            box = (window.x, window.y, window.x + window.width, window.y + window.height)
            pen.rectangle(box, fill=(240, 240, 240), outline=(0, 0, 0))
            pen.text((window.x + 6, window.y + 4), f"{window.title}\n{window.text}"[:2000], fill=(0, 0, 0))
        x, y = self.pointer
        pen.ellipse((x - 3, y - 3, x + 3, y + 3), fill=(255, 0, 0))
        out = io.BytesIO()
        image.save(out, form, **options)
        return Frame(data=out.getvalue(), media_type=media_type, width=image.width, height=image.height)

    def _cat(self, words: Sequence[str]) -> ExecResult:
        missing = [path for path in words if path not in self.files]
        if missing:
            return ExecResult(returncode=1, error=f"cat: {missing[0]}: No such file or directory\n")
        return ExecResult(returncode=0, output="".join(self.files[path].decode(errors="replace") for path in words))

    def _reg(self, words: Sequence[str]) -> ExecResult:
        """The answer of `reg query KEY /v NAME`."""
        if self.platform != "Windows":
            raise GuestRefused("no such program: ['reg']", kind="not_found")
        value = self.registry.get((words[1], words[3]))
        if value is None:
            error = "ERROR: The system was unable to find the specified registry key or value.\r\n"
            return ExecResult(returncode=1, error=error)
        return ExecResult(returncode=0, output=f"\r\n{words[1]}\r\n    {words[3]}    {value[0]}    {value[1]}\r\n\r\n")

    def _rm(self, words: Sequence[str]) -> ExecResult:
        known = [path for path in words if self.files.pop(path, None) is not None]
        return ExecResult(returncode=0 if len(known) == len(words) else 1)
