"""Ports of desktops and their providers. A port's docstring is the specification.

Every implementation passes the port's contract suite in `tests/contract/`, the fakes in `tests/fakes/` included.
All calls are synchronous and bounded in time. All may raise the errors named; nothing else may pass.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from backend.domain.machines.desktop_end import DesktopEnd
from backend.domain.machines.egress_rules import EgressRules
from backend.domain.machines.health import DesktopHealth, DiskRoom
from backend.domain.machines.image_offers import ImageOffer
from backend.domain.machines.slots import DesktopNeeds, SlotRef
from backend.domain.model.run import ScreenSize
from backend.domain.model.task import Frozen
from backend.domain.model.trajectory import Action, Frame, Interaction, Window


class ExecResult(Frozen):
    """Result of a command in the guest.

    Attributes:
        returncode: its exit code.
        output, error: truncated to a limit, with a note.
        truncated: whether one of them is.
    """

    returncode: int
    output: str = ""
    error: str = ""
    truncated: bool = False


class Probe(Frozen):
    """The guest's description of itself.

    Attributes:
        api: version of the guest API.
        platform: `Linux` or `Windows`.
        capabilities: names of what works there (`a11y`, `recording`, ...).
        clock: the guest's time, seconds since 1970.
    """

    api: str
    platform: str
    screen: ScreenSize
    capabilities: tuple[str, ...] = ()
    clock: float = 0.0


@runtime_checkable
class Desktop(Protocol):
    """A running machine with a screen, reached through the guest API. The loop never knows which provider made it.

    Every method raises GuestLost when the desktop is dead, frozen (no answer within the method's deadline) or
    breaks its protocol, and GuestRefused when it is well but says no. Nothing a guest returns is trusted: sizes
    are bounded (GuestRefused kind `too_large`).
    """

    @property
    def screen(self) -> ScreenSize:
        """Size in pixels."""
        ...

    @property
    def patience(self) -> float:
        """How many times as long as usual its programs may take: 1, and more where the processor is emulated.

        What prepares a task waits so much longer; the agent's budgets are as always.
        """
        ...

    def probe(self) -> Probe:
        """The guest's description of itself. Safe to call at any time."""
        ...

    def health(self) -> DesktopHealth:
        """The facts that the health check judges. Safe to call at any time, costs some milliseconds."""
        ...

    def disks(self) -> Sequence[DiskRoom]:
        """Free space where programs write. Safe to call at any time, also where thousands of processes run."""
        ...

    def frame(self, *, quality: int = 85) -> Frame:
        """The screen now, as JPEG, with the pointer. Fast: about 10 ms at 1920x1080."""
        ...

    def screenshot(self) -> Frame:
        """The screen now, lossless PNG, with the pointer."""
        ...

    def accessibility_tree(self) -> str:
        """The accessibility tree as OSWorld's XML; bounded in nodes, depth and time (cut, never failing, above)."""
        ...

    def windows(self) -> Sequence[Window]:
        """Top-level windows, bottom to top."""
        ...

    def clipboard(self) -> str:
        """The clipboard's text, empty if it holds none."""
        ...

    def perform(self, action: Action) -> Mapping[str, Any]:
        """Carries out one typed action (not WAIT, DONE, FAIL) and returns when the input has been delivered.

        Returns:
            The guest's answer: for PYTHON and SCRIPT `{returncode, output, error}`, for READ_FILE
            `{data (base64), size, sha256}`, for WRITE_FILE `{size, sha256}`, else empty. A file that cannot be read or
            written gives what a failed script gives.

        Raises:
            GuestRefused: the guest understood and could not, for example an unknown key name.
        """
        ...

    def wait_stable(self, *, quiet: float, timeout: float) -> float:
        """Waits until the screen has not changed for `quiet` seconds, at most `timeout`. Returns seconds waited."""
        ...

    def execute(self, command: str | Sequence[str], *, shell: bool = False, timeout: float = 120.0) -> ExecResult:
        """Runs a command in the guest's session and waits for it."""
        ...

    def run_python(self, code: str, *, timeout: float = 30.0) -> ExecResult:
        """Runs Python source in the guest (system python3 with pyautogui).

        It asks about what an agent left there, so that no module of the desktop's user is loaded.
        """
        ...

    def launch(self, command: str | Sequence[str], *, shell: bool = False) -> None:
        """Starts a program in the guest's session and does not wait for it."""
        ...

    def open_file(self, path: str) -> None:
        """Opens a file with its default application and waits for its window."""
        ...

    def activate_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> None:
        """Raises and focuses the first window whose title (or class) matches. GuestRefused `not_found` if none does."""
        ...

    def close_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> None:
        """Asks the first matching window to close."""
        ...

    def read_file(self, path: str, *, max_bytes: int = 256 * 2**20) -> bytes:
        """A file of the guest. GuestRefused `not_found` if absent."""
        ...

    def write_file(self, path: str, data: bytes) -> None:
        """Writes a file in the guest, making parent folders."""
        ...

    def wallpaper(self) -> bytes:
        """The desktop's background picture as PNG. GuestRefused `not_found` if it shows a plain colour."""
        ...

    def interactions(self, since: int = 0) -> Sequence[Interaction]:
        """Mouse and keyboard actions after the entry of that number, oldest first, at most 1,000.

        The first call begins the log, and returns when it records; the `call` route does not clear it. What our own
        set-up does is in it like everything else: ask once before the agent begins and remember the last number.

        Raises:
            GuestRefused: this desktop cannot keep a log (`unsupported`).
        """
        ...

    def call(self, method: str, route: str, payload: Mapping[str, Any] | None = None) -> Any:
        """Any other route of the guest API; returns the decoded JSON."""
        ...


class DesktopSpec(Frozen):
    """The desktop that an attempt requires."""

    screen: ScreenSize = ScreenSize()
    image: str = "default"


class Availability(Frozen):
    """Whether a provider can work here.

    Attributes:
        ok: desktops can be made.
        reason: why not, and what to install; or which limits are in force.
        programs: commands found on its desktops (`mousepad`, `localc`, ...): decides which tasks are runnable.
        need: what one desktop takes of the machine: slots are counted from it.
        images: images of desktops; empty if there is only one kind, called `default`.
    """

    ok: bool
    reason: str = ""
    programs: tuple[str, ...] = ()
    need: DesktopNeeds = DesktopNeeds()
    images: tuple[ImageOffer, ...] = ()


class OpenDesktop(Protocol):
    """A desktop with its provider's view of it.

    Attributes:
        desktop: the guest API client.
        details: for the record: how the home was made, which limits hold, seconds by phase.
    """

    desktop: Desktop
    details: Mapping[str, Any]

    def alive(self) -> bool:
        """False once the machine is known to be gone; `death_reason` then says why (for example `memory limit`)."""
        ...

    def death_reason(self) -> str:
        """Empty while alive."""
        ...

    def ending(self) -> DesktopEnd:
        """Why it ended or may not answer, from what programs inside cannot write. Bounded in time, raises nothing."""
        ...

    def stream_address(self) -> tuple[str, str]:
        """(address of the guest API, secret): for the live pump of the same worker."""
        ...

    def picture(self) -> Frame | None:
        """The screen as the machine itself has it, without asking the guest: for a guest that is silent.

        Also the last one of a machine that is gone. None where there is none but the guest's, and if even the machine
        does not answer. A JPEG. Bounded in time like every call, and raises nothing.
        """
        ...

    def let_out(self, way_out: EgressRules, fetch: Callable[[str], bytes]) -> None:
        """Sets the desktop's network access from now on; before that it has none.

        Args:
            way_out: hosts, files that are answered without a network, a proxy.
            fetch: bytes of an artifact by hash, for those files; may raise any of our errors.
        """
        ...

    def close(self) -> None:
        """Destroys the desktop; returns when all its processes, mounts and files are gone. Safe to call twice."""
        ...


class Provider(Protocol):
    """Makes desktops. One instance per worker; calls may come from several threads."""

    name: str

    def availability(self) -> Availability:
        """Whether desktops can run here, and if not, why. Cached; cheap."""
        ...

    def open(self, slot: SlotRef, spec: DesktopSpec) -> OpenDesktop:
        """A pristine desktop in that slot, ready for its first observation. Cleans up after itself if it fails.

        Raises:
            ClusterLost: the machine could not be made here (no memory, sandbox refused).
            GuestLost: it started but its guest API never became ready.
        """
        ...

    def prepare(self, slot: SlotRef, spec: DesktopSpec) -> None:
        """Starts making the slot's next desktop ahead, in the background, if there is room. May do nothing."""
        ...

    def unprepare(self, slot: SlotRef) -> None:
        """Nothing is coming for the slot: destroys, in the background, what was prepared for it and not used."""
        ...

    def close(self) -> None:
        """Destroys everything this provider made. Safe to call twice."""
        ...
