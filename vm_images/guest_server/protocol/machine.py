"""What the routes need of the platform, as Protocols, and the bundle that hands it to them."""

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
    """One picture of the screen: rows of 4 bytes (blue, green, red, unused) a pixel, `stride` bytes a row.

    `pixels` may be the live screen itself (`ScreenAccess.peek`), which goes on changing.
    """

    pixels: bytes | memoryview = field(repr=False)
    width: int
    height: int
    stride: int


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
    """Where a window is wanted, in screen pixels with its frame; None leaves that as it is.

    `maximized` fills the screen and leaves the rest aside; else a window that fills it is given its own size first.
    """

    x: int | None = None
    y: int | None = None
    width: int | None = None
    height: int | None = None
    maximized: bool = False


@dataclass(frozen=True)
class CommandResult:
    """A command that has ended; `truncated` if it said more than the limit."""

    returncode: int
    output: str
    error: str
    truncated: bool = False


@dataclass(frozen=True)
class CommandSpec:
    """A command to run. `shell` gives the one string in `argv` to the platform's shell."""

    argv: Sequence[str]
    shell: bool = False
    folder: Path | None = None
    stdin: bytes = b""


@dataclass(frozen=True)
class TreeRequest:
    """Which accessibility tree is wanted, and how much of it at most.

    Attributes:
        backend: `uia` or `win32` (WindowsAgentArena's parameter); empty: the best that the platform has.
        names: `osworld` or `waa`: whose namespaces a Windows tree bears.
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
        farewell: what ends it when it comes on its standard input; if empty, an interrupt ends it.
    """

    argv: Sequence[str]
    farewell: bytes = b""


@dataclass(frozen=True)
class Tree:
    """The accessibility tree as XML; `cut` says why it is not whole, empty if it is."""

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
        """1.0 where programs draw as many pixels as they are told."""
        ...

    def grab(self) -> ScreenFrame:
        """The screen now, with the pointer, after all requests of before have been drawn."""
        ...

    def peek(self) -> ScreenFrame:
        """The same without a copy: to be encoded at once and not kept."""
        ...

    def pointer(self) -> tuple[int, int]:
        """Where the pointer is."""
        ...

    def wait_stable(self, quiet: float, timeout: float) -> bool:
        """Waits until nothing has changed for `quiet` seconds; False if `timeout` came first."""
        ...


class InputDevice(Protocol):
    """Mouse and keyboard."""

    def check(self, events: Sequence[Event]) -> None:
        """Raises GuestError if one of them cannot be carried out here."""
        ...

    def perform(self, events: Sequence[Event]) -> None:
        """Carries them out in order and returns when the display server has taken them all."""
        ...


class Interactions(Protocol):
    """The log of what was done with mouse and keyboard, by whomever. It begins with the first question."""

    async def told(self, since: int) -> list[dict[str, Any]]:
        """Entries after that number, oldest first, with all that was done before the question.

        Raises:
            GuestError: `not_available` if no log can be kept here, `failed` if it has broken off.
        """
        ...

    async def stop(self) -> None:
        """Ends it."""
        ...


class ClipboardAccess(Protocol):
    """The clipboard's text."""

    def read(self) -> str:
        """The text, empty if there is none."""
        ...

    def write(self, text: str) -> None:
        """Replaces it."""
        ...


class Windows(Protocol):
    """Top-level windows."""

    def all(self) -> list[WindowInfo]:
        """All of them, bottom to top."""
        ...

    def activate(self, window: WindowInfo) -> bool:
        """Raises and focuses it and waits for that; False if the window manager did not."""
        ...

    def place(self, window: WindowInfo, placement: Placement) -> WindowInfo | None:
        """Moves and sizes it and waits for that; gives it as it is then, None if it has closed.

        A program may refuse a size: it is then as near to it as the program allows.
        """
        ...

    def close(self, window: WindowInfo) -> None:
        """Asks it to close."""
        ...

    def kill(self, window: WindowInfo) -> None:
        """Ends the application behind it."""
        ...


class Accessibility(Protocol):
    """The accessibility tree. Never lets a hung application block the server."""

    async def start(self) -> None:
        """Makes ready, so that the first question is answered sooner."""
        ...

    async def stop(self) -> None:
        """Ends whatever it keeps running."""
        ...

    async def tree(self, options: TreeRequest) -> Tree:
        """The whole desktop's tree."""
        ...

    async def terminal(self) -> str | None:
        """The text of the active terminal, None if no terminal shows its text."""
        ...

    async def text_cursor(self) -> dict[str, str]:
        """`selection` and `line` at the text cursor, with `control` and `role` of what has the focus; empty: none."""
        ...


class Commands(Protocol):
    """Programs of the desktop's user."""

    def run(self, spec: CommandSpec, *, timeout: float, limit: int) -> CommandResult:
        """Runs it in its own process group and waits; the group is killed at the deadline.

        Raises:
            GuestError: `not_found` if there is no such program, `timeout` with the output so far.
        """
        ...

    def start(self, spec: CommandSpec) -> int:
        """Starts it, does not wait, returns its process id."""
        ...

    def alive(self, pid: int) -> bool:
        """True while a process of that number runs."""
        ...

    def stop_all(self) -> None:
        """Kills every process group that was started and is still there."""
        ...


class DesktopShell(Protocol):
    """Habits of the desktop environment."""

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
        """What records the screen into that file. Raises GuestError `not_available`."""
        ...


class Capability(Protocol):
    """A module with routes. `def routes(machine)` at its top makes a module one."""

    def routes(self, machine: "Machine") -> "list[web.RouteDef]":
        """The routes of one desktop."""
        ...


@dataclass
class Machine:
    """Everything a route may use. `stopping` is set when the desktop shall end.

    Attributes:
        lines: the way out of a virtual machine; None = `egress_socket`, or none.
        system: what the desktop's user may not do itself; None = it is no machine of its own.
        capabilities: modules with routes that only this platform has.
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
    lines: EgressTunnels | None = None
    system: System | None = None
    capabilities: Sequence[Capability] = ()
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(max_workers=32))

    async def blocking(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a short blocking call in a thread, with the deadline for questions to the display server."""
        return await self.within(self.limits.blocking_seconds, function, *args, **kwargs)

    async def within(self, seconds: float, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a blocking call in a thread with a deadline of its own."""
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(self.pool, lambda: function(*args, **kwargs))
        try:
            return await asyncio.wait_for(future, seconds)
        except TimeoutError:
            name = getattr(function, "__name__", "the call")
            message = f"{name} did not answer within {seconds:g} s: the desktop hangs"
            raise GuestError("hung", message) from None
