"""Health of a Windows desktop, from `WindowsSources`; nothing here calls Windows itself."""

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from guest_server.environment import NO_WINDOW
from guest_server.protocol.errors import GuestError
from guest_server.protocol.health_facts import Disk, HealthFacts, Process

COVERS = {"winlogon": "locked", "screen-saver": "screen saver"}
"""Names of input desktops (in lower case) that cover the user's own, and their meaning."""
SERVICES = frozenset(
    {
        "applicationframehost.exe", "backgroundtaskhost.exe", "backgroundtransferhost.exe", "conhost.exe",
        "crossdeviceresume.exe", "ctfmon.exe", "dllhost.exe", "lockapp.exe", "msedgewebview2.exe", "openconsole.exe",
        "phoneexperiencehost.exe", "runtimebroker.exe", "searchapp.exe", "searchhost.exe", "searchprotocolhost.exe",
        "securityhealthsystray.exe", "shellexperiencehost.exe", "shellhost.exe", "sihost.exe", "smartscreen.exe",
        "startmenuexperiencehost.exe", "svchost.exe", "taskhostw.exe", "textinputhost.exe", "useroobebroker.exe",
        "widgets.exe", "wmiprvse.exe",
    }
)  # fmt: skip
"""Programs that Windows itself starts in a user's session, some of them minutes later: they belong to no task."""
_UPDATE = r"HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\WindowsUpdate\Auto Update\RebootRequired"
_SERVICING = r"HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\Component Based Servicing"
_SESSION = r"HKLM\SYSTEM\CurrentControlSet\Control\Session Manager"
_SETUP = r"HKLM\SYSTEM\Setup"
RESTARTS: Sequence[tuple[str, str, str]] = (
    (_UPDATE, "", "Windows Update waits for a restart"),
    (rf"{_SERVICING}\RebootPending", "", "an installed component waits for a restart"),
    (rf"{_SERVICING}\RebootInProgress", "", "components are being installed"),
    (rf"{_SERVICING}\PackagesPending", "", "packages wait to be installed"),
    (_SESSION, "PendingFileRenameOperations", "files are replaced at the next restart"),
    (_SETUP, "SystemSetupInProgress", "the system is being set up"),
)
"""(key, name of a value or empty, meaning): due if the key exists, or the value and it is neither 0 nor empty."""
INSTALLERS = {"tiworker.exe": "Windows installs updates", "msiexec.exe": "a program is being installed"}
WINDOWS_APPLICATION = "55c92734-d682-4d71-983e-d6ec3f16059f"
"""Application id of Windows itself among the products that SoftwareLicensingProduct lists."""
LICENCE_QUESTION: Sequence[str] = (
    "powershell.exe",
    "-NoProfile",
    "-NonInteractive",
    "-Command",
    "@(Get-CimInstance SoftwareLicensingProduct -Filter \"PartialProductKey IS NOT NULL AND ApplicationID='"
    + WINDOWS_APPLICATION
    + "'\" | Select-Object Description,GracePeriodRemaining) | ConvertTo-Json -Compress",
)
_LICENCE_SECONDS = 120.0
_EVALUATION = "TIMEBASED_EVAL"
"""Part of the description of a product that finally shuts its machine down; others only ask to be activated."""


@dataclass(frozen=True)
class SnapshotProcess:
    """A process of a snapshot; `born` is its creation time in any unit, `own` whether it is the desktop user's."""

    pid: int
    parent: int
    born: int
    name: str
    own: bool


class WindowsSources(Protocol):
    """Facts that only Windows knows. Each raises GuestError `failed` if Windows refuses."""

    def processes(self) -> Sequence[SnapshotProcess]:
        """A snapshot of all processes."""
        ...

    def input_desktop(self) -> str:
        """Name of the input desktop: the user's own, `Default` or Wine's, unless something covers it."""
        ...

    def registry(self, key: str, name: str) -> object | None:
        """A value; with an empty name whether the key exists (True); None if it does not."""
        ...

    def memory_free(self) -> int | None:
        """Bytes of physical memory that programs can still allocate."""
        ...

    def scale(self) -> float:
        """Of the primary display, 1.0 for 96 DPI."""
        ...


def of_a_task(rows: Iterable[SnapshotProcess], before: frozenset[tuple[int, int]], own_pid: int) -> list[Process]:
    """The user's programs that started later, without those of Windows itself and our own helpers."""
    processes = list(rows)
    return [
        Process(process.pid, process.name)
        for process in processes
        if process.own
        # A process without a name is starting or exiting.
        and process.name
        and (process.pid, process.born) not in before
        and process.name.lower() not in SERVICES
        and not (process.parent == own_pid and process.name.lower().startswith("python"))
    ]


def pending(rows: Iterable[SnapshotProcess], registry: Callable[[str, str], object | None]) -> list[str]:
    """Running updates and due restarts, as text."""
    due = [words for key, name, words in RESTARTS if registry(key, name)]
    names = {row.name.lower() for row in rows}
    return [*due, *(words for name, words in INSTALLERS.items() if name in names)]


def cover(desktop: str, own: str) -> str:
    """Cause of a covered screen, from the names of the input desktop and the user's own; empty if nothing covers it."""
    foreign = "" if desktop.lower() == own.lower() else f"the desktop {desktop}"
    return COVERS.get(desktop.lower(), foreign)


def licence_until(answer: str, asked_at: float) -> float | None:
    """When an evaluation ends, seconds since 1970, from the answer to LICENCE_QUESTION; None = it is not an evaluation.

    Raises:
        GuestError: it is another answer, or has no product.
    """
    try:
        products = [(str(item["Description"]), int(item["GracePeriodRemaining"])) for item in _list(json.loads(answer))]
    except (KeyError, TypeError, ValueError):
        raise GuestError("failed", f"Windows answered otherwise about its licence: {answer[:200]!r}") from None
    if not products:
        raise GuestError("failed", "Windows named no product that has a licence")
    if not all(_EVALUATION in description for description, _ in products):
        return None
    # No time left: it has ended.
    return asked_at + 60.0 * max(minutes for _, minutes in products)


def _list(value: object) -> list[dict[str, Any]]:
    """PowerShell writes a list with one item as the item."""
    return [value] if isinstance(value, dict) else list(value)  # type: ignore[call-overload]


def ask_licence() -> float | None:
    """When an evaluation ends. Takes seconds; None without PowerShell, as on Wine.

    Raises:
        GuestError: The query failed.
    """
    try:
        result = subprocess.run(
            list(LICENCE_QUESTION),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LICENCE_SECONDS,
            check=True,
            creationflags=NO_WINDOW,
        )
    except FileNotFoundError:
        return None
    except (OSError, subprocess.SubprocessError) as error:
        raise GuestError("failed", f"Windows could not be asked about its licence: {error}") from None
    return licence_until(result.stdout.decode("utf-8", "replace"), time.time())


class WindowsHealth:
    """Health of a Windows session. The licence is queried once: its end does not change."""

    def __init__(
        self, home: Path, sources: WindowsSources, own_pid: int, ask: Callable[[], float | None] = ask_licence
    ) -> None:
        self._home = home
        # Now: it writes a test file, which a full disk would refuse later.
        self._temporary = Path(tempfile.gettempdir())
        self._sources = sources
        self._own_pid = own_pid
        self._ask = ask
        self._until: float | None = None
        self._is_settled = False
        self._desktop = ""
        self._before: frozenset[tuple[int, int]] = frozenset()

    def settled(self) -> None:
        """Remembers running processes and the visible desktop.

        Queries the licence, so that nobody waits for it later.
        """
        if not self._is_settled:
            self._until, self._is_settled = self._ask(), True
        self._desktop = self._sources.input_desktop()
        self._before = frozenset((process.pid, process.born) for process in self._sources.processes())

    def limits_reached(self) -> Mapping[str, int]:
        return {}

    def disks(self) -> Sequence[Disk]:
        return disks(self._home, self._temporary)

    def facts(self) -> HealthFacts:
        if not self._is_settled:
            raise GuestError("failed", "the desktop was never said to be settled")
        rows = self._sources.processes()
        return HealthFacts(
            disks=self.disks(),
            memory_free=self._sources.memory_free(),
            scale=self._sources.scale(),
            locked=cover(self._sources.input_desktop(), self._desktop),
            pending=pending(rows, self._sources.registry),
            licence_until=self._until,
            processes=of_a_task(rows, self._before, self._own_pid),
        )


def disks(*folders: Path) -> list[Disk]:
    """Free space in each folder; each drive is reported once. Raises OSError."""
    by_drive: dict[str, Disk] = {}
    for folder in folders:
        usage = shutil.disk_usage(folder)
        by_drive.setdefault(folder.drive.lower() or str(folder), Disk(str(folder), usage.free, usage.total))
    return list(by_drive.values())
