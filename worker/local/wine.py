"""Desktops with Windows programs: Wine with a prefix per desktop, and Python for Windows.

`make setup` installs both below one folder: `home`, the template of the home with the prefix, and `python`.
"""

import os
import subprocess
from contextlib import suppress
from pathlib import Path

from worker.local import seccomp
from worker.local.desktop_kind import DesktopKind
from worker.local.home import content_hash

LOADERS = (Path("/usr/lib/wine/wine64"), Path("/usr/lib/wine/wine"))
"""Wine's own program on Debian and Ubuntu, behind their wrapper in /usr/bin."""
USER = "Docker"
"""User name in the paths of WindowsAgentArena's tasks."""
WHY_NOT = "why-not.txt"
"""File in which `make setup` stores why it could not install them."""
PREFIX = ".wine"
"""Path of the prefix in the home."""
_DRIVE = f"/home/user/{PREFIX}/drive_c"
_PROFILE = f"{PREFIX}/drive_c/users/{USER}"
FOLDERS = tuple(f"{_PROFILE}/{name}" for name in ("Desktop", "Documents", "Downloads", "Music", "Pictures", "Videos"))
_PROGRAM_FOLDERS = ("windows", "windows/system32", "Program Files")
_VERSION_SECONDS = 30
_WORDS = 500


def loader() -> Path | None:
    """Wine's own program on this machine; None if Wine is not installed."""
    return next((path for path in LOADERS if path.is_file() and os.access(path, os.X_OK)), None)


def why_not(folder: Path) -> str:
    """Why desktops with Windows programs are not available here, and what to do; empty if they should be.

    Args:
        folder: created by `make setup`.
    """
    if loader() is None:
        return "Wine is not installed. Run `make setup`, or install the packages `wine wine64 libwine fonts-wine`."
    with suppress(FileNotFoundError), (folder / WHY_NOT).open(errors="replace") as file:
        return f"Wine is installed, but could not be prepared: {' '.join(file.read(_WORDS).split())}"
    missing = [name for name in ("python/python.exe", f"home/{PREFIX}/system.reg") if not (folder / name).is_file()]
    return f"Wine is installed, but {missing[0]} is missing in {folder}. Run `make setup`." if missing else ""


def flavour(folder: Path, guest: Path) -> DesktopKind:
    """The kind of desktops with Windows programs.

    Args:
        folder: created by `make setup`.
        guest: folder with the guest server's package.

    Raises:
        OSError: it is not ready; `why_not` returns the reason.
    """
    program, problem = loader(), why_not(folder)
    if program is None or problem:
        raise FileNotFoundError(problem)
    environment = {
        "USER": USER,
        "LOGNAME": USER,
        "WINEPREFIX": f"/home/user/{PREFIX}",
        "WINEARCH": "win64",
        "WINEDEBUG": "-all",
        "DESKARENA_WINE": str(program),
        "DESKARENA_WINE_FILTER": seccomp.host_windows_program().hex(),
    }
    return DesktopKind(
        name="windows",
        home=folder / "home",
        key=f"wine-{content_hash(folder / 'home')}",
        folders=FOLDERS,
        command=("/usr/bin/python3", "-m", "guest_server.linux.wine_session"),
        environment=environment,
        binds={f"{_DRIVE}/Python": folder / "python", f"{_DRIVE}/Deskarena": guest},
    )


def version() -> str:
    """Wine's version, for example `8.0`; empty if unknown."""
    program = loader()
    if program is None:
        return ""
    try:
        result = subprocess.run(
            [str(program), "--version"], capture_output=True, text=True, check=False, timeout=_VERSION_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout.strip().partition(" ")[0].removeprefix("wine-")


def programs(folder: Path) -> tuple[str, ...]:
    """Sorted names of the Windows programs of a fresh prefix, in lower case and without `.exe`."""
    drive = folder / "home" / PREFIX / "drive_c"
    names = {"python"}
    for name in _PROGRAM_FOLDERS:
        pattern = "**/*.exe" if name == "Program Files" else "*.exe"
        names.update(path.stem.lower() for path in (drive / name).glob(pattern))
    return tuple(sorted(names))
