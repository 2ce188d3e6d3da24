"""Leaves traces on a desktop in every way that a task can, and looks for them. Its source is run inside the desktop.

`leave` and `find` tell of every trace by name; `refused` means that the machine does not let its user do that. Standard
library only, and what a Linux desktop's own Python has.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

MARK = "left-by-an-earlier-task"
LEFT, REFUSED, NONE = "left", "refused", "none"
WINDOWS = sys.platform == "win32"
CHUNKS = tuple(size * 2**20 for size in (256, 64, 16, 4, 1))
AWAY_SECONDS = 86_400
KEY = r"Software\Deskarena"
DETACHED = 0x00000008
NOTHING = subprocess.DEVNULL
PORT = 47_321
LISTENING_SECONDS = 20.0
LISTENER = """
import socket, sys
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as server:
    while True:
        server.accept()[0].close()
"""

Trace = tuple[str, Callable[[], str], Callable[[], str]]


def temporary() -> Path:
    """Where programs write what they soon forget. `tempfile` would try to write there, and the disk may be full."""
    return Path(os.environ["TEMP"]) if WINDOWS else Path("/tmp")


def places() -> Iterator[Path]:
    """Where files are left: seen and unseen ones, in the home and beside it."""
    home = Path.home()
    yield from (home / "Desktop" / MARK, home / f".{MARK}", home / "Documents" / "a" / MARK)
    yield temporary() / MARK
    for folder in (os.environ.get("XDG_RUNTIME_DIR"), None if WINDOWS else "/dev/shm"):
        if folder and os.access(folder, os.W_OK):
            yield Path(folder) / MARK


def leave_files() -> str:
    for path in places():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(MARK)
    return LEFT


def find_files() -> str:
    return LEFT if any(path.exists() for path in places()) else NONE


def leave_settings() -> str:
    """On Linux a file that every program reads, and the keyboard's repeat on the X server; else the registry."""
    if sys.platform == "win32":
        import winreg

        with winreg.CreateKey(winreg.HKEY_CURRENT_USER, KEY) as key:
            winreg.SetValueEx(key, MARK, 0, winreg.REG_SZ, MARK)
        return LEFT
    settings = Path.home() / ".config" / "user-dirs.dirs"
    settings.parent.mkdir(exist_ok=True)
    with settings.open("a") as file:
        file.write(f'\nXDG_MUSIC_DIR="$HOME/{MARK}"\n')
    display = x_server()
    display.change_keyboard_control(auto_repeat_mode=0)
    display.screen().root.change_property(display.intern_atom(MARK), display.intern_atom("STRING"), 8, MARK.encode())
    display.sync()
    return LEFT


def find_settings() -> str:
    if sys.platform == "win32":
        import winreg

        try:
            winreg.CloseKey(winreg.OpenKey(winreg.HKEY_CURRENT_USER, KEY))
        except FileNotFoundError:
            return NONE
        return LEFT
    settings = Path.home() / ".config" / "user-dirs.dirs"
    display = x_server()
    told = display.screen().root.get_full_property(display.intern_atom(MARK), 0)
    silent = display.get_keyboard_control().global_auto_repeat == 0
    written = settings.exists() and MARK in settings.read_text()
    return LEFT if told or silent or written else NONE


def x_server() -> Any:
    """A connection to the desktop's X server."""
    from Xlib.display import Display

    return Display()


def leave_process() -> str:
    """One that has cut every tie to what started it, and listens on a port."""
    argv = [sys.executable, "-c", LISTENER, str(PORT)]
    if WINDOWS:
        subprocess.Popen(argv, creationflags=DETACHED, stdin=NOTHING, stdout=NOTHING, stderr=NOTHING)
    elif os.fork() == 0:
        os.setsid()
        subprocess.Popen(argv, start_new_session=True, stdin=NOTHING, stdout=NOTHING, stderr=NOTHING)
        os._exit(0)
    else:
        os.wait()
    deadline = time.monotonic() + LISTENING_SECONDS
    while find_process() != LEFT:
        if time.monotonic() > deadline:
            raise TimeoutError("the background process does not listen")
        time.sleep(0.05)
    return LEFT


def find_process() -> str:
    try:
        socket.create_connection(("127.0.0.1", PORT), 1.0).close()
    except OSError:
        return NONE
    return LEFT


def disks() -> Iterator[Path]:
    """One folder for each disk that can be written."""
    folders = {folder.stat().st_dev: folder for folder in (temporary(), Path.home())}
    yield from folders.values()


def leave_full_disk() -> str:
    for folder in disks():
        for number, size in enumerate(CHUNKS):
            with contextlib.suppress(OSError):
                fill(folder / f"{MARK}-{number}", size)
    return LEFT


def fill(name: Path, size: int) -> None:
    """Takes all room that there is, in files of one size. Raises OSError when there is no more."""
    number = 0
    while True:
        number += 1
        with name.with_name(f"{name.name}-{number}").open("wb") as file:
            if WINDOWS:
                file.write(bytes(size))
            else:
                os.posix_fallocate(file.fileno(), 0, size)


def find_full_disk() -> str:
    return LEFT if any(list(folder.glob(f"{MARK}-*")) for folder in disks()) else NONE


# The disk comes last: the others need room.
TRACES: tuple[Trace, ...] = (
    ("files", leave_files, find_files),
    ("settings", leave_settings, find_settings),
    ("process", leave_process, find_process),
    ("full disk", leave_full_disk, find_full_disk),
)


def leave() -> dict[str, str]:
    """Leaves all traces; returns the result of each."""
    return {name: left() for name, left, _ in TRACES}


def find() -> dict[str, str]:
    """Which of them are there."""
    return {name: found() for name, _, found in TRACES}


def script(function: str) -> str:
    """This file with a call of one of its two functions, as JSON: to be run inside a desktop."""
    return f"{Path(__file__).read_text()}\ntell({function}())\n"


def tell(what: dict[str, str]) -> None:
    """For the one who runs the script."""
    sys.stdout.write(json.dumps(what))
