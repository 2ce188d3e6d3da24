"""Platform interface of the routes, as Protocols, and their bundle."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

from guest_server.egress_tunnels import EgressTunnels
from guest_server.protocol.errors import GuestError
from guest_server.protocol.health_facts import HealthProbe
from guest_server.protocol.input_events import Event
from guest_server.protocol.limits import GuestLimits
from guest_server.protocol.secret import Secret
from guest_server.protocol.system import System

if TYPE_CHECKING:
    from aiohttp import web

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class ScreenFrame:
    """A screen picture: rows of 4 bytes (blue, green, red, unused) per pixel, `stride` bytes per row.

    `pixels` may be the live screen itself (`ScreenAccess.peek`), which keeps changing.
    """

    pixels: bytes | memoryview = field(repr=False)
    width: int
    height: int
    stride: int


Box = tuple[int, int, int, int]
"""Left, top, right, bottom in screen pixels."""


@dataclass(frozen=True)
class WindowInfo:
    """A top-level window; the rectangle is in screen pixels and includes the frame."""

    id: int
    title: str
    wm_class: str
    x: int
    y: int
    width: int
    height: int
    active: bool = False
    minimized: bool = False
    pid: int | None = None


@dataclass(frozen=True)
class Placement:
    """Target of a window, in screen pixels with its frame; None keeps the value.

    `maximized` fills the screen and ignores the rest; otherwise a maximised window is restored first.
    """

    x: int | None = None
    y: int | None = None
    width: int | None = None
    height: int | None = None
    maximized: bool = False


@dataclass(frozen=True)
class CommandResult:
    """A finished command; `truncated` if its output exceeded the limit."""

    returncode: int
    output: str
    error: str
    truncated: bool = False


@dataclass(frozen=True)
class CommandSpec:
    """A command to run. With `shell`, the one string in `argv` goes to the platform's shell."""

    argv: Sequence[str]
    shell: bool = False
    folder: Path | None = None
    stdin: bytes = b""


@dataclass(frozen=True)
class TreeRequest:
    """Requested accessibility tree and its limits.

    Attributes:
        backend: `uia` or `win32` (WindowsAgentArena's parameter); empty: the platform's best.
        names: `osworld` or `waa`: namespaces of a Windows tree.
    """

    nodes: int
    depth: int
    children: int
    seconds: float
    backend: str = ""
    names: str = "osworld"


@dataclass(frozen=True)
class RecorderSpec:
    """A program that records the screen.

    Attributes:
        farewell: text on stdin that ends it; if empty, an interrupt ends it.
    """

    argv: Sequence[str]
    farewell: bytes = b""


@dataclass(frozen=True)
class Tree:
    """The accessibility tree as XML; `cut` says why it is truncated, empty if it is not."""

    xml: str
    nodes: int
    cut: str = ""


class ScreenAccess(Protocol):
    """The picture. Sizes are pixels; at `scale` 2.0, programs draw everything twice as large."""

    @property
    def width(self) -> int:
        """Pixels from left to right."""
        ...

    @property
    def height(self) -> int:
        """Pixels from top to bottom."""
        ...

    @property
    def scale(self) -> float:
        """1.0 if programs draw unscaled."""
        ...

    def grab(self) -> ScreenFrame:
        """The current screen with the pointer, after all earlier requests have been drawn."""
        ...

    def peek(self) -> ScreenFrame:
        """Like `grab` without a copy: encode it at once and do not keep it."""
        ...

    def pointer(self) -> tuple[int, int]:
        """Position of the pointer."""
        ...

    def wait_stable(self, quiet: float, timeout: float) -> bool:
        """Waits until nothing has changed for `quiet` seconds; False at `timeout`."""
        ...


class InputDevice(Protocol):
    """Mouse and keyboard."""

    def check(self, events: Sequence[Event]) -> None:
        """Raises GuestError if an event cannot be performed here."""
        ...

    def perform(self, events: Sequence[Event]) -> None:
        """Performs them in order and returns when the display server has processed them all."""
        ...


class Interactions(Protocol):
    """Interaction log of mouse and keyboard, whatever the source. It starts with the first request."""

    async def entries(self, since: int) -> list[dict[str, Any]]:
        """Entries after that number, oldest first, including everything before the request.

        Raises:
            GuestError: `not_available` if no log is possible here, `failed` if it has broken off.
        """
        ...

    async def stop(self) -> None: ...


class ClipboardAccess(Protocol):
    """Access to the clipboard's text."""

    def read(self) -> str:
        """The text, empty if there is none."""
        ...

    def write(self, text: str) -> None: ...


class Windows(Protocol):
    """Top-level windows."""

    def all(self) -> list[WindowInfo]:
        """All of them, bottom to top."""
        ...

    def activate(self, window: WindowInfo) -> bool:
        """Raises and focuses it and waits for that; False if the window manager did not."""
        ...

    def place(self, window: WindowInfo, placement: Placement) -> WindowInfo | None:
        """Moves and resizes it and waits; returns its final state, None if it has closed.

        A program may refuse a size: it then gets the nearest one allowed.
        """
        ...

    def close(self, window: WindowInfo) -> None:
        """Asks the window to close."""
        ...

    def kill(self, window: WindowInfo) -> None:
        """Ends the window's application."""
        ...


class Accessibility(Protocol):
    """The accessibility tree. A hanging application never blocks the server."""

    async def start(self) -> None:
        """Prepares, so that the first request is faster."""
        ...

    async def stop(self) -> None: ...

    async def tree(self, options: TreeRequest) -> Tree:
        """The whole desktop's tree."""
        ...

    async def terminal(self) -> str | None:
        """Text of the active terminal, None if there is none."""
        ...

    async def text_cursor(self) -> dict[str, str]:
        """`selection` and `line` at the text cursor, with `control` and `role` of the focused control; empty: none."""
        ...


class Commands(Protocol):
    """Programs of the desktop's user."""

    def run(self, spec: CommandSpec, *, timeout: float, limit: int) -> CommandResult:
        """Runs it in its own process group and waits; the group is killed at the deadline.

        Raises:
            GuestError: `not_found` if the program does not exist, `timeout` with the output so far.
        """
        ...

    def start(self, spec: CommandSpec) -> int:
        """Starts it, does not wait, returns its process id."""
        ...

    def alive(self, pid: int) -> bool:
        """Whether a process with that id runs."""
        ...

    def stop_all(self) -> None:
        """Kills every started process group that still exists."""
        ...


class DesktopShell(Protocol):
    """Conventions of the desktop environment."""

    def folder(self, name: str) -> Path:
        """The user's folder `Desktop` or `Documents`."""
        ...

    def wallpaper(self) -> Path | None:
        """The picture file shown as wallpaper, None if it is a plain colour."""
        ...

    def set_wallpaper(self, path: Path) -> None:
        """Shows it and returns when it is drawn."""
        ...

    def recycle(self, path: Path) -> None:
        """Moves a file or folder to the recycle bin."""
        ...

    def opener(self, path: Path) -> CommandSpec:
        """The command that opens a file with its default application."""
        ...

    def program(self, name: str) -> Sequence[str]:
        """The command of an application by its name, empty if it is not installed."""
        ...

    def recorder(self, target: Path) -> RecorderSpec:
        """Recorder of the screen into that file. Raises GuestError `not_available`."""
        ...


class Capability(Protocol):
    """A module with routes: it defines `def routes(machine)`."""

    def routes(self, machine: "Machine") -> "list[web.RouteDef]": ...


@dataclass
class Machine:
    """Dependencies of the routes. `stopping` is set when the desktop must end.

    Attributes:
        keyboard_socket: where programs of the desktop reach its keyboard; None = they press keys by themselves.
        lines: egress tunnels of a virtual machine; None = `egress_socket`, or none.
        system: privileged operations; None = it is not its own machine.
        capabilities: modules with routes of this platform only.
    """

    platform: str
    limits: GuestLimits
    secret: Secret
    environment: Mapping[str, str]
    home: Path
    screen: ScreenAccess
    input: InputDevice
    interactions: Interactions
    clipboard: ClipboardAccess
    windows: Windows
    accessibility: Accessibility
    commands: Commands
    shell: DesktopShell
    health: HealthProbe
    python: Sequence[str]
    bash: Sequence[str]
    tunnel_ports: frozenset[int]
    egress_proxy: str = ""
    egress_socket: str = ""
    keyboard_socket: Path | None = None
    lines: EgressTunnels | None = None
    system: System | None = None
    capabilities: Sequence[Capability] = ()
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(max_workers=32))

    async def blocking(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a short blocking call in a thread, with the deadline for display server requests."""
        return await self.within(self.limits.blocking_seconds, function, *args, **kwargs)

    async def within(self, seconds: float, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a blocking call in a thread with its own deadline."""
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(self.pool, lambda: function(*args, **kwargs))
        try:
            async with asyncio.timeout(seconds):
                return await future
        except TimeoutError:
            name = getattr(function, "__name__", "the call")
            message = f"{name} did not answer within {seconds:g} s: the desktop hangs"
            raise GuestError("hung", message) from None
